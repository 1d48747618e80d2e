//! What single words mean for the comparison of two rules: the tables.
//!
//! Small on purpose: a word that is missing here costs a missed duplicate, a wrong one
//! costs a rule.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Says nothing: the rule is the same without it.
    Empty,
    /// Turns the rule round.
    Negation,
    /// Narrows or turns the rule: one side cannot have it more than the other.
    Hinge(&'static str),
    /// As a hinge, under its own name.
    Hard,
    Means(&'static str),
    Content,
}

/// Two words that stand for one, or for nothing.
pub(super) const PHRASES: [(&str, &str, Role); 7] = [
    ("make", "sure", Role::Empty),
    ("be", "sure", Role::Empty),
    ("in", "order", Role::Empty),
    ("rather", "than", Role::Hinge("instead")),
    ("instead", "of", Role::Hinge("instead")),
    ("prior", "to", Role::Hinge("before")),
    ("refrain", "from", Role::Negation),
];

/// Words that say nothing, except right after a negation: `not all`, `do not need to`.
pub(super) const KEPT_AFTER_NOT: [&str; 8] = [
    "always", "all", "each", "every", "need", "needs", "must", "have",
];

pub(super) fn role(word: &str) -> Role {
    match word {
        // Articles, pronouns,
        "a" | "an" | "the" | "this" | "that" | "these" | "those" | "there" | "here" | "i"
        | "we" | "our" | "you" | "your" | "it" | "its" | "they" | "them" | "their"
        // auxiliaries, which also carry the strength of a rule,
        | "is" | "are" | "be" | "been" | "being" | "was" | "were" | "has" | "have" | "had"
        | "do" | "does" | "did" | "will" | "would" | "should" | "shall" | "must" | "need"
        | "needs" | "ought" | "always" | "please" | "kindly" | "just" | "simply" | "really"
        | "very" | "also" | "ensure" | "remember" | "generally"
        // joints, and prepositions that take each other's place.
        | "each" | "every" | "all" | "any" | "and" | "&" | "then" | "so" | "to" | "of" | "in"
        | "on" | "at" | "for" | "with" | "by" | "via" | "using" | "as" | "up" | "upon" => {
            Role::Empty
        }

        "not" | "no" | "never" | "none" | "nothing" | "neither" | "nor" | "cannot" | "avoid"
        | "avoids" | "avoiding" | "without" | "non" | "dont" | "wont" | "cant"
        // The commonest ones of other languages.
        | "nicht" | "kein" | "keine" | "keinen" | "nie" | "niemals" | "ohne" | "ne" | "pas"
        | "jamais" | "sans" | "nunca" | "sin" | "não" | "sem" | "mai" | "niet" | "geen"
        | "nooit" | "inte" | "aldrig" => Role::Negation,
        _ if word.ends_with("n't") => Role::Negation,

        "only" => Role::Hinge("only"),
        "unless" => Role::Hinge("unless"),
        "except" | "excluding" => Role::Hinge("except"),
        "if" => Role::Hinge("if"),
        "when" | "whenever" => Role::Hinge("when"),
        "while" | "during" => Role::Hinge("while"),
        "until" | "till" => Role::Hinge("until"),
        "before" => Role::Hinge("before"),
        "after" => Role::Hinge("after"),
        "over" => Role::Hinge("over"),
        "instead" => Role::Hinge("instead"),
        "than" => Role::Hinge("than"),
        "or" => Role::Hinge("or"),
        "but" => Role::Hinge("but"),
        "from" => Role::Hinge("from"),
        "into" => Role::Hinge("into"),
        "first" => Role::Hinge("first"),
        "last" => Role::Hinge("last"),
        "may" | "might" | "could" | "can" => Role::Hinge("may"),
        "sometimes" | "occasionally" => Role::Hinge("sometimes"),
        "rarely" | "seldom" | "hardly" => Role::Hinge("rarely"),
        "optional" | "optionally" => Role::Hinge("optional"),
        "more" => Role::Hinge("more"),
        "less" | "fewer" => Role::Hinge("less"),
        "most" | "maximum" | "max" => Role::Hinge("most"),
        "least" | "minimum" | "min" => Role::Hinge("least"),
        "stop" | "off" | "out" | "down" | "away" | "back" | "above" | "below" | "under"
        | "within" | "between" | "against" | "outside" | "inside" => Role::Hard,

        "execute" | "executes" | "executing" | "invoke" | "invokes" | "invoking" => {
            Role::Means("run")
        }
        "utilize" | "utilise" | "employ" => Role::Means("use"),
        "review" | "verify" | "verifies" | "verifying" => Role::Means("check"),
        "remove" | "removes" | "removing" | "erase" => Role::Means("delete"),
        "repo" | "repos" => Role::Means("repository"),
        "dir" | "directory" | "directories" => Role::Means("folder"),
        "docs" | "doc" => Role::Means("documentation"),
        "config" | "configs" => Role::Means("configuration"),
        "env" => Role::Means("environment"),
        "db" => Role::Means("database"),
        "param" | "params" => Role::Means("parameter"),
        "filename" | "filenames" => Role::Means("file name"),
        _ => Role::Content,
    }
}

/// The stem of a word: its ending for number, tense and person cut off. Only has to give
/// equal stems to the forms of one word.
pub(super) fn stem(word: &str) -> String {
    let cut = ["ing", "ies", "ied", "ed", "es", "s", "e"]
        .iter()
        .find_map(|ending| {
            let rest = word.strip_suffix(ending)?;
            let is_word = rest.len() >= 2 && rest.bytes().any(|b| b"aeiouy".contains(&b));
            let is_plural = *ending != "s" || !rest.ends_with(['s', 'u', 'i']);
            (is_word && is_plural).then_some((rest, *ending))
        });
    match cut {
        Some((rest, "ies" | "ied")) => format!("{rest}y"),
        Some((rest, "ing" | "ed")) => without_doubled_end(rest).to_owned(),
        Some((rest, _)) => rest.to_owned(),
        None => word.to_owned(),
    }
}

/// Takes back the letter that an ending doubled: `running`, but `adding`, `calling`.
fn without_doubled_end(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(other)) if last == other && !"adeflosz".contains(last) => {
            &stem[..stem.len() - last.len_utf8()]
        }
        _ => stem,
    }
}
