//! JSON values that are taken where they have the right type, and passed over where they
//! have not: what a hook reads of files and messages that others write.
//!
//! No tree of values is built, and nothing that is not wanted is kept.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value that is taken where it has the right type, and passed over where it has not.
pub(crate) struct Loose<T>(pub(crate) Option<T>);

/// What a [`Loose`] value may be made of.
pub(crate) trait Take<'de>: Sized {
    fn string(_: Cow<'de, str>) -> Option<Self> {
        None
    }
    fn number(_: f64) -> Option<Self> {
        None
    }
    fn boolean(_: bool) -> Option<Self> {
        None
    }
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'de, T: Take<'de>> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Take<'de>> Visitor<'de> for Any<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(T::boolean(value))
            }
            #[expect(clippy::cast_precision_loss, reason = "votes are counted in hundreds")]
            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(T::number(value as f64))
            }
            #[expect(clippy::cast_precision_loss, reason = "votes are counted in hundreds")]
            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(T::number(value as f64))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(T::number(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(T::string(Cow::Owned(value.to_owned())))
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(T::string(Cow::Borrowed(value)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                T::list(items)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::object(map)
            }
        }
        deserializer.deserialize_any(Any(PhantomData)).map(Self)
    }
}

pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Take<'de> for Text<'de> {
    fn string(text: Cow<'de, str>) -> Option<Self> {
        Some(Self(text))
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Loose(text) = Loose::<Self>::deserialize(deserializer)?;
        text.ok_or_else(|| de::Error::custom("expected a string"))
    }
}

impl Take<'_> for bool {
    fn boolean(value: bool) -> Option<Self> {
        Some(value)
    }
}
