//! When a record was written.

use jiff::Timestamp;

/// How the client writes a time; `0` stands for any digit.
const WRITTEN: &[u8; 24] = b"0000-00-00T00:00:00.000Z";

/// Reads a time in any form of RFC 3339; the client's own is read without the general parser,
/// which would be a twentieth of all work on a transcript.
pub(super) fn read(raw: &[u8]) -> Option<Timestamp> {
    of_client(raw).or_else(|| std::str::from_utf8(raw).ok()?.parse().ok())
}

/// Reads the client's own form; days that not every month has are left to the general parser.
fn of_client(raw: &[u8]) -> Option<Timestamp> {
    let raw: &[u8; WRITTEN.len()] = raw.try_into().ok()?;
    let is_written_so = raw.iter().zip(WRITTEN).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    });
    let number = |from: usize, digits: usize| {
        let digits = raw[from..from + digits].iter();
        digits.fold(0, |n, digit| n * 10 + i64::from(digit & 0x0F))
    };
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2));
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2));
    let is_usual = (1..=12).contains(&month) && (1..=28).contains(&day);
    if !is_written_so || !is_usual || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March end with the leap day; 719,468 days are before 1970.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Timestamp::from_millisecond(seconds * 1_000 + number(20, 3)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_time_is_what_the_general_parser_reads(
            time in r"(-00|0|1|2)[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\.[0-9]{2,4}(Z|\+01:00)"
        ) {
            prop_assert_eq!(read(time.as_bytes()), time.parse().ok());
        }
    }
}
