//! The ways to read a text: as it stands, and behind what disguises letters.

use super::invisible::shows_nothing;

/// A text in lower case, in plain letters, for the rules to look at.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// The text.
    pub(super) text: String,
    /// By byte, whether it stands between backticks, which are left out.
    pub(super) code: Vec<bool>,
    /// Whether letters were replaced by such that only look alike.
    pub(super) has_disguise: bool,
}

impl View {
    /// The text as it stands: in lower case, accents and style of letters gone, quotes and
    /// dashes of one kind, no emphasis, single spaces.
    pub(super) fn plain(text: &str) -> Self {
        let mut view = Self::default();
        for word in words(text) {
            if is_mixed(&word) {
                view.has_disguise = true;
                view.push_word(word.iter().map(|&c| look_alike(c).unwrap_or(c)));
            } else {
                let styled = word.iter().filter(|&&c| is_styled(c)).count();
                view.has_disguise |= styled >= 4;
                view.push_word(word.iter().copied());
            }
        }
        view.mark_code();
        view
    }

    fn of(text: String) -> Self {
        let code = vec![false; text.len()];
        Self {
            text,
            code,
            has_disguise: true,
        }
    }

    fn push_word(&mut self, word: impl Iterator<Item = char>) {
        for c in word {
            for c in plain_char(c) {
                let is_space = matches!(c, ' ' | '\n');
                match self.text.chars().last() {
                    Some(' ') if is_space => {
                        if c == '\n' {
                            self.text.pop();
                            self.text.push('\n');
                        }
                    }
                    Some('\n') | None if is_space => {}
                    _ => self.text.push(c),
                }
            }
        }
    }

    /// Notes what is code and takes the backticks out.
    fn mark_code(&mut self) {
        let mut text = String::with_capacity(self.text.len());
        let mut inside = false;
        let mut rest = self.text.chars();
        while let Some(c) = rest.next() {
            let beside = [
                text.chars().last(),
                rest.as_str().trim_start_matches('*').chars().next(),
            ];
            let is_emphasis = c == '*'
                && beside.iter().flatten().any(|c| c.is_alphanumeric())
                && !beside
                    .iter()
                    .flatten()
                    .any(|c| matches!(c, '/' | '(' | '.' | '"' | '\'' | '*'));
            if c == '`' {
                inside = !inside;
            } else if !is_emphasis {
                text.push(c);
                self.code.resize(text.len(), inside);
            }
        }
        self.text = text;
    }
}

/// The pieces of a text: runs of letters and digits, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = Vec<char>> {
    let mut words: Vec<Vec<char>> = Vec::new();
    let mut was_word = false;
    for c in text.chars().filter(|&c| !shows_nothing(c)) {
        let is_word = c.is_alphanumeric();
        match words.last_mut() {
            Some(last) if is_word == was_word => last.push(c),
            _ => words.push(vec![c]),
        }
        was_word = is_word;
    }
    words.into_iter()
}

/// Tells whether a word mixes Latin letters with letters of another script that look like
/// Latin ones, and nothing else.
fn is_mixed(word: &[char]) -> bool {
    let latin = word.iter().filter(|c| c.is_ascii_alphabetic()).count();
    let alike = word.iter().filter(|&&c| look_alike(c).is_some()).count();
    // `Δt`, `μs`: one letter of mathematics in front.
    let is_symbol = alike == 1
        && word
            .first()
            .is_some_and(|c| ('\u{370}'..='\u{3ff}').contains(c));
    latin > 0 && alike > 0 && latin + alike >= word.len() && word.len() > 2 && !is_symbol
}

/// The Latin letter that a Cyrillic, Greek or Armenian one looks like.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'В' | 'в' | 'Β' | 'β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'ё' | 'Ё' | 'ε' | 'Ε' | 'є' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'Н' | 'н' | 'Η' | 'հ' => 'h',
        'і' | 'І' | 'ї' | 'ι' | 'Ι' | 'ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'Ӏ' | 'ⅼ' => 'l',
        'м' | 'М' | 'Μ' => 'm',
        'ո' | 'η' | 'п' | 'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' | 'գ' => 'q',
        'г' => 'r',
        'ѕ' | 'Ѕ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ս' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'γ' | 'Υ' => 'y',
        'Ζ' | 'ᴢ' => 'z',
        _ => return None,
    })
}

/// Tells whether a character is a Latin letter in the dress of another block.
fn is_styled(c: char) -> bool {
    matches!(c, '\u{1d400}'..='\u{1d7ff}' | '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}'
        | '\u{1f1e6}'..='\u{1f1ff}' | '\u{ff21}'..='\u{ff5a}')
        || small_capital(c).is_some()
}

fn small_capital(c: char) -> Option<char> {
    const SMALL: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ";
    const PLAIN: &[u8] = b"abcdefghijklmnopqrstuvwyz";
    let at = SMALL.chars().position(|small| small == c)?;
    PLAIN.get(at).map(|&b| char::from(b))
}

/// A character in lower case, without accent and style; nothing for accents and emphasis.
fn plain_char(c: char) -> impl Iterator<Item = char> {
    let letter = |offset: u32| char::from_u32(u32::from(b'a') + offset % 26).unwrap_or('?');
    let code = u32::from(c);
    let plain = match c {
        '\u{300}'..='\u{36f}' => None,
        '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => Some('\n'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0),
        '\u{1d400}'..='\u{1d6a5}' => Some(letter((code - 0x1d400) % 52)),
        '\u{1d7ce}'..='\u{1d7ff}' => char::from_u32(u32::from('0') + (code - 0x1d7ce) % 10),
        '\u{24b6}'..='\u{24e9}' => Some(letter((code - 0x24b6) % 26)),
        '\u{1f130}'..='\u{1f149}' => Some(letter(code - 0x1f130)),
        '\u{1f150}'..='\u{1f169}' => Some(letter(code - 0x1f150)),
        '\u{1f170}'..='\u{1f189}' => Some(letter(code - 0x1f170)),
        '\u{1f1e6}'..='\u{1f1ff}' => Some(letter(code - 0x1f1e6)),
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{b4}' | '\u{2032}' => Some('\''),
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => Some('"'),
        '\u{2010}'..='\u{2012}' | '\u{2212}' => Some('-'),
        '\u{2013}'..='\u{2015}' => Some('\u{2014}'),
        '\u{3001}' => Some(','),
        '\u{3002}' => Some('.'),
        c if c.is_whitespace() || c.is_control() => Some(' '),
        c => Some(small_capital(c).unwrap_or(c)),
    };
    plain
        .into_iter()
        .flat_map(char::to_lowercase)
        .filter(|c| !matches!(c, '\u{300}'..='\u{36f}'))
        .map(without_accent)
}

/// A Latin letter without its accent.
fn without_accent(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ạ' | 'ả' | 'ấ' | 'ầ' | 'ậ' | 'ắ' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ế' | 'ề' | 'ệ' | 'ể' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ị' | 'ỉ' => 'i',
        'ł' | 'ĺ' | 'ļ' | 'ľ' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ọ' | 'ỏ' | 'ố' | 'ồ' | 'ộ' | 'ớ' | 'ờ' | 'ợ' | 'ơ' => {
            'o'
        }
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => 's',
        'ţ' | 'ť' | 'ț' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ụ' | 'ủ' | 'ư' | 'ứ' | 'ừ' | 'ự' => {
            'u'
        }
        'ý' | 'ÿ' | 'ỳ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        c => c,
    }
}

/// The further ways to read a text; only those that differ from the plain one.
pub(super) fn disguises(text: &str, plain: &View) -> Vec<View> {
    let mut views = Vec::new();
    let folded: String = plain
        .text
        .chars()
        .map(|c| look_alike(c).unwrap_or(c))
        .collect();
    let apart = joined(text);
    let mut candidates = vec![
        unleet(&plain.text, 'i'),
        unleet(&plain.text, 'l'),
        plain.text.chars().rev().collect(),
        plain.text.chars().map(rot13).collect(),
    ];
    if plain.text.chars().any(|c| c.is_ascii_alphabetic()) {
        candidates.push(folded);
    }
    candidates.extend(apart.map(|apart| View::plain(&apart).text));
    for candidate in candidates {
        if candidate != plain.text {
            views.push(View::of(candidate));
        }
    }
    views
}

/// Digits and signs that stand for letters, in words that have letters too.
fn unleet(text: &str, one: char) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | '!' | '|' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' | '+' => 't',
        c => c,
    };
    let words = text.split_inclusive([' ', '\n']);
    words
        .flat_map(|word| {
            let letters = word.chars().filter(char::is_ascii_alphabetic).count();
            let signs = word.chars().filter(|&c| letter(c) != c).count();
            let is_leet = signs > 0 && letters >= 1 && letters + signs + 2 >= word.trim().len();
            word.chars()
                .map(move |c| if is_leet { letter(c) } else { c })
        })
        .collect()
}

fn rot13(c: char) -> char {
    match c {
        'a'..='m' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        c => c,
    }
}

/// The text with letters joined that stand apart: `i g n o r e`, `c-u-r-l`; `None` when
/// there are none. Two separators in a row part words.
fn joined(text: &str) -> Option<String> {
    /// So many letters in a row stand apart by no accident.
    const FEW: usize = 4;
    joined_from(text, FEW).and_then(|_| joined_from(text, 2))
}

/// Joins runs of at least `few` letters.
fn joined_from(text: &str, few: usize) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_single = |at: usize| {
        let letter = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric());
        letter(at) && !letter(at + 1) && at.checked_sub(1).is_none_or(|before| !letter(before))
    };
    let is_separator =
        |c: char| matches!(c, ' ' | '.' | '-' | '_' | '*' | '/' | '·' | '|' | ',' | '+');
    let mut out = String::new();
    let mut is_any = false;
    let mut at = 0;
    while at < chars.len() {
        let mut end = at;
        let mut letters = Vec::new();
        while is_single(end) {
            letters.push(chars[end]);
            if chars.get(end + 1).is_some_and(|&c| is_separator(c)) && is_single(end + 2) {
                end += 2;
            } else {
                end += 1;
                break;
            }
        }
        if letters.len() >= few {
            is_any = true;
            out.extend(letters);
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    is_any.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::case("Ignore ALL", "ignore all")]
    #[case::accents("Größe über café", "große uber cafe")]
    #[case::bold("𝐢𝐠𝐧𝐨𝐫𝐞 𝘢𝘭𝘭", "ignore all")]
    #[case::wide("ｉｇｎｏｒｅ", "ignore")]
    #[case::emphasis("**ignore** `x`", "ignore x")]
    #[case::spaces("a   b\n\n c", "a b\nc")]
    #[case::mixed("ignоrе", "ignore")]
    #[case::cyrillic("не используй", "не используи")]
    fn a_plain_view(#[case] text: &str, #[case] plain: &str) {
        let found = View::plain(text);
        // A short i with its breve is one letter in the file and stays one.
        assert_eq!(found.text.replace('й', "и"), plain);
    }

    #[rstest]
    #[case::leet("1gn0r3 pr3v10us", "ignore previous")]
    #[case::apart("i g n o r e", "ignore")]
    #[case::dashes("i-g-n-o-r-e  a-l-l", "ignore all")]
    #[case::backwards("erongi", "ignore")]
    #[case::rot13("vtaber", "ignore")]
    fn a_disguise_is_seen_through(#[case] text: &str, #[case] wanted: &str) {
        let views = disguises(text, &View::plain(text));
        assert!(
            views.iter().any(|view| view.text.contains(wanted)),
            "{views:?}"
        );
    }

    #[test]
    fn mathematics_and_units_are_no_disguise() {
        for text in [
            "Δt is 5 μs",
            "λ-calculus",
            "x² + y²",
            "naïve Bayes",
            "CI-сервер",
            "日本語",
        ] {
            assert!(!View::plain(text).has_disguise, "{text}");
        }
    }
}
