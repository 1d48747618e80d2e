//! Times in files that hooks read: milliseconds since 1970, which need no parser.

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(time.as_millisecond())
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let time = Timestamp::from_millisecond(i64::deserialize(from)?);
    time.map_err(|_| D::Error::custom("not a time"))
}
