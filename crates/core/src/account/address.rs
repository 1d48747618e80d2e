//! An address as it may be stored and shown: without what could be a secret in it.
//!
//! Hooks write addresses into jobs before anybody has checked them, and link no parser of
//! URLs. What is taken out leaves a mark that every such parser takes for a user name or a
//! query, so an address that was refused with its secret is refused without it.

const MARK: &str = "[masked]";

/// The address without user name, password, query and fragment, and without white space
/// around it or slashes at its end.
pub fn without_secret(url: &str) -> String {
    // Parsers pass over these wherever they stand.
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
    // Behind a host an `@` is part of the path; what is no host may be a password that
    // holds a slash.
    let until = if is_host(host) { 0 } else { rest.len() };
    let mut told = before[..before.len() - rest.len()].to_owned();
    match rest[..until].rfind('@') {
        Some(at) => told.extend([MARK, &rest[at..]]),
        None => told.push_str(rest),
    }
    match sign {
        Some(sign) => told + sign + MARK,
        None => told.trim_end_matches('/').to_owned(),
    }
}

/// Returns `true` if a text can be a host with or without a port.
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
