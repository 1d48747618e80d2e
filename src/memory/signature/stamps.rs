//! What logs write before a message: when, where and which process, but not what.

/// How severe a line of klog is: `E0312 10:11:12.123 1 memcache.go:265] …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// `I`, `W`: it accompanies an error.
    Aside,
    /// `E`, `F`.
    Failure,
}

/// The severity and the message of a line of klog.
pub(super) fn klog(line: &str) -> Option<(Severity, &str)> {
    let severity = match line.as_bytes().first()? {
        b'I' | b'W' => Severity::Aside,
        b'E' | b'F' => Severity::Failure,
        _ => return None,
    };
    let (stamp, message) = line.split_once("] ")?;
    let mut parts = stamp[1..].split_ascii_whitespace();
    let day = parts.next()?;
    let is_day = day.len() == 4 && is_digits(day);
    (is_day && is_clock(parts.next()?)).then_some((severity, message))
}

/// A line without the stamp of klog or of syslog (`Jan  5 10:22:31 web1 sshd[811]: …`).
pub(super) fn without_stamp(line: &str) -> &str {
    match klog(line) {
        Some((_, message)) => message,
        None => of_syslog(line).unwrap_or(line),
    }
}

fn of_syslog(line: &str) -> Option<&str> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (month, rest) = word(line)?;
    let (day, rest) = word(rest)?;
    let (clock, rest) = word(rest)?;
    let (_host, rest) = word(rest)?;
    let is_stamp = MONTHS.contains(&month) && is_digits(day) && is_clock(clock);
    // `sshd[811]:` is a process; a colon alone may belong to the message.
    let message = match word(rest) {
        Some((process, message)) if process.ends_with("]:") => message,
        _ => rest,
    };
    is_stamp.then_some(message.trim_start())
}

/// The first word and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    text.trim_start().split_once(' ')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `10:11:12.123`.
fn is_clock(text: &str) -> bool {
    text.split(':').count() == 3
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || b":.".contains(&b))
}
