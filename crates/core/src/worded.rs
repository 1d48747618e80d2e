//! Enums with one word for each variant in files, settings and commands.

/// Defines an enum with a word for each variant, which serde also uses.
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
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }
        }
    };
}
