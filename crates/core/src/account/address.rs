//! Removes what could be a secret from an address before it is stored or shown.
//!
//! Hooks link no URL parser. The mark left for a removed part reads as a user name or a query in
//! every parser. An address that was refused with its secret is therefore refused without it too.

const MARK: &str = "[masked]";

/// Returns an address without user name, password, query, fragment, surrounding white space and
/// trailing slashes.
pub fn without_secret(url: &str) -> String {
    // URL parsers ignore these characters anywhere.
    let url = url.replace(['\t', '\n', '\r'], "");
    let url = url.trim_matches(|c: char| c <= ' ');
    let (before, sign) = match url.find(['?', '#']) {
        Some(at) => (&url[..at], Some(&url[at..=at])),
        None => (url, None),
    };
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme = match before.split_once(':') {
        Some((scheme, _)) if scheme.chars().all(is_of_scheme) => scheme.len() + 1,
        _ => 0,
    };
    let rest = before[scheme..].trim_start_matches(['/', '\\']);
    let host = rest.split(['/', '\\']).next().unwrap_or_default();
    // An `@` after a host is part of the path. Text that is no host may be a password with a slash
    // in it.
    let until = if is_host(host) { 0 } else { rest.len() };
    let mut shown = before[..before.len() - rest.len()].to_owned();
    match rest[..until].rfind('@') {
        Some(at) => shown.extend([MARK, &rest[at..]]),
        None => shown.push_str(rest),
    }
    match sign {
        Some(sign) => shown + sign + MARK,
        None => shown.trim_end_matches('/').to_owned(),
    }
}

fn is_host(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.contains('@')
            && (!name.contains(':') || name.starts_with('[') && name.ends_with(']'))
    };
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    is_name(text)
        || text
            .rsplit_once(':')
            .is_some_and(|(name, port)| is_name(name) && is_port(port))
}
