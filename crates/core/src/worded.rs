//! Enums of which each variant has a word: one place says it, for files, settings and commands.

/// Defines an enum with a word for each variant, which is also how serde writes it.
#[macro_export]
macro_rules! worded {
    ($(#[$meta:meta])* pub enum $name:ident {
        $( $(#[$about:meta])* $variant:ident = $word:literal, )+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {
            $( $(#[$about])* #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word for it, as files and commands have it.
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            /// Reads the word back; `None` for any other.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }
        }
    };
}
