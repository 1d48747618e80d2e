//! The types a setting can have, and how each is read from TOML and shown.

use toml::de::DeValue;

/// A type of setting.
pub(super) trait Setting: Sized {
    /// Reads the value; the error says what was wanted.
    fn read(value: &DeValue<'_>) -> Result<Self, String>;

    /// The value as TOML; `None` when there is none.
    fn show(&self) -> Option<String>;

    /// Passes a value within the bounds on.
    fn within(self, low: &Self, high: &Self) -> Result<Self, String>
    where
        Self: PartialOrd + std::fmt::Display,
    {
        if *low <= self && self <= *high {
            Ok(self)
        } else {
            Err(format!("must be from {low} to {high}, not {self}"))
        }
    }
}

/// Says which type was wanted and which was found.
pub(super) fn mismatch(wanted: &str, found: &DeValue<'_>) -> String {
    format!("must be {wanted}, not a {}", found.type_str())
}

impl Setting for bool {
    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        value
            .as_bool()
            .ok_or_else(|| mismatch("true or false", value))
    }

    fn show(&self) -> Option<String> {
        Some(self.to_string())
    }
}

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl Setting for $ty {
            fn read(value: &DeValue<'_>) -> Result<Self, String> {
                let number = value.as_integer().ok_or_else(|| mismatch("a whole number", value))?;
                if number.as_str().starts_with('-') {
                    return Err(format!("must not be negative: {number}"));
                }
                <$ty>::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| format!("is too large: {number}"))
            }

            fn show(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )*};
}
whole_numbers!(u32, u64, usize);

impl Setting for f64 {
    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        let number = value.as_float().map(|f| f.as_str().replace('_', ""));
        let number = number.or_else(|| value.as_integer().map(|i| i.as_str().replace('_', "")));
        number
            .and_then(|text| text.parse().ok())
            .filter(|number: &Self| number.is_finite())
            .ok_or_else(|| mismatch("a number", value))
    }

    fn show(&self) -> Option<String> {
        Some(toml::Value::Float(*self).to_string())
    }
}

impl Setting for String {
    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        let text = value.as_str().ok_or_else(|| mismatch("a string", value))?;
        if text.trim().is_empty() {
            return Err("must not be empty".to_owned());
        }
        Ok(text.to_owned())
    }

    fn show(&self) -> Option<String> {
        Some(toml::Value::String(self.clone()).to_string())
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(value: &DeValue<'_>) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn show(&self) -> Option<String> {
        self.as_ref().and_then(Setting::show)
    }
}

/// Defines an enum that is one of a few words in the settings.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal, )* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$doc])* $variant, )*
        }

        impl $name {
            /// The word that stands for it in the settings.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }
        }

        impl Setting for $name {
            fn read(value: &DeValue<'_>) -> Result<Self, String> {
                const WORDS: &[&str] = &[$($word),*];
                match value.as_str() {
                    $( Some($word) => Ok(Self::$variant), )*
                    Some(other) => Err(format!(
                        "must be one of {}, not `{other}`", WORDS.join(", ")
                    )),
                    None => Err($crate::config::value::mismatch("a string", value)),
                }
            }

            fn show(&self) -> Option<String> {
                Some(format!("\"{}\"", self.word()))
            }
        }
    };
}
pub(super) use choice;
