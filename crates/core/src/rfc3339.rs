//! Times as text. The library's own parser and printer bring their messages along, a tenth of a
//! hook's size.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use serde::Serializer;

const SECONDS: usize = "2026-11-21T22:19:51".len();
const MINUTE: i64 = 60;

/// Formats a time in UTC as `2026-11-21T22:19:51`.
pub fn seconds(time: Timestamp) -> String {
    let at = Offset::UTC.to_datetime(time);
    let (year, month, day) = (at.year(), at.month(), at.day());
    let (hour, minute, second) = (at.hour(), at.minute(), at.second());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

pub fn millis(time: Timestamp) -> String {
    let millis = time.as_millisecond().rem_euclid(1_000);
    format!("{}.{millis:03}Z", seconds(time))
}

pub fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    let mut text = seconds(*time);
    let fraction = Offset::UTC.to_datetime(*time).subsec_nanosecond();
    if fraction > 0 {
        text += format!(".{fraction:09}").trim_end_matches('0');
    }
    to.serialize_str(&(text + "Z"))
}

pub mod optional {
    use jiff::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => super::serialize(time, to),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text.and_then(|text| super::parse(&text)))
    }
}

/// Parses a time with its offset from UTC; `None` for any other text.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (time, rest) = text.split_at_checked(SECONDS)?;
    let end = |rest: &str| rest.find(|c: char| !c.is_ascii_digit());
    let (fraction, offset) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(end(rest)?),
        None => ("0", rest),
    };
    let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let offset = match offset.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign @ ("+" | "-"), offset) => {
            let (hours, minutes) = offset.split_once(':')?;
            let minutes = number::<i64>(hours)? * MINUTE + number::<i64>(minutes)?;
            MINUTE * if sign == "-" { -minutes } else { minutes }
        }
        _ => return None,
    };
    let utc = at(time, nanoseconds)?;
    utc.checked_sub(SignedDuration::from_secs(offset)).ok()
}

/// Parses a time in UTC as [`seconds`] writes it, with or without its separators.
pub(crate) fn at(time: &str, nanoseconds: i32) -> Option<Timestamp> {
    let has_signs = time.len() == SECONDS;
    let signs = [("-", 5), ("-", 8), ("T", 11), (":", 14), (":", 17)];
    let are_right = |(sign, end): (&str, usize)| time.get(..end).is_some_and(|t| t.ends_with(sign));
    if has_signs && !signs.into_iter().all(are_right) {
        return None;
    }
    let digits = time.replace(['-', ':', 'T'], "");
    let part = |from: usize| number::<i8>(digits.get(from..from + 2)?);
    let year = number::<i16>(digits.get(..4)?)?;
    let at = DateTime::new(
        year,
        part(4)?,
        part(6)?,
        part(8)?,
        part(10)?,
        part(12)?,
        nanoseconds,
    );
    Offset::UTC.to_timestamp(at.ok()?).ok()
}

fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::utc("2026-11-21T22:19:51Z")]
    #[case::fraction("2026-11-21T22:19:51.5Z")]
    #[case::nanoseconds("2026-11-21T22:19:51.123456789z")]
    #[case::east("2026-11-21T22:19:51+05:30")]
    #[case::west("1969-12-31T22:19:51.000001-11:00")]
    #[case::leap_day("2024-02-29T00:00:00Z")]
    #[case::no_such_day("2026-02-29T00:00:00Z")]
    #[case::no_offset("2026-11-21T22:19:51")]
    #[case::words("in a minute, or at the latest tomorrow")]
    #[case::signs("2026-11-21T22-19-51Z")]
    fn a_time_is_read_and_written_as_a_library_does(#[case] text: &str) {
        let time = text.parse::<Timestamp>().ok();
        assert_eq!(parse(text), time);
        let Some(time) = time else { return };
        let mut written = Vec::new();
        serialize(&time, &mut serde_json::Serializer::new(&mut written)).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), format!("\"{time}\""));
        assert_eq!(millis(time), format!("{time:.3}"));
    }
}
