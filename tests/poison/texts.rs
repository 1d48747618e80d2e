//! Reads the files of texts in this folder.

/// One text a line; `\n` and `\u{200b}` stand for what cannot be seen.
pub(crate) fn texts(file: &str) -> Vec<String> {
    file.lines()
        .filter(|line| !line.is_empty())
        .map(unescaped)
        .collect()
}

fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        rest = if let Some(after) = after.strip_prefix('n') {
            out.push('\n');
            after
        } else if let Some((code, after)) = after
            .strip_prefix("u{")
            .and_then(|after| after.split_once('}'))
        {
            let code = u32::from_str_radix(code, 16).expect("a code");
            out.push(char::from_u32(code).expect("a character"));
            after
        } else {
            out.push('\\');
            after
        };
    }
    out.push_str(rest);
    out
}
