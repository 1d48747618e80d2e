//! How often an identifier stands in the files, and whether that is still much.

use serde::{Deserialize, Serialize};

/// An identifier is gone when fewer than one of so many uses is left.
const LEFT_OF: u32 = 10;
/// An identifier that stands in prose alone counts as seen from so many uses on: fewer go with
/// the next edit of a page, and say nothing.
const USES_IN_PROSE: u32 = 3;

/// The uses of an identifier, in code and in prose apart: a changelog names what is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    code: Uses,
    #[serde(default, skip_serializing_if = "Uses::is_none")]
    prose: Uses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Uses {
    uses: u32,
    files: u32,
}

impl Uses {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_none(&self) -> bool {
        self.uses == 0
    }

    fn plus(self, other: Self) -> Self {
        Self {
            uses: self.uses.saturating_add(other.uses),
            files: self.files.saturating_add(other.files),
        }
    }
}

impl Count {
    pub(super) fn of_file(uses: u32, is_prose: bool) -> Self {
        let (some, none) = (Uses { uses, files: 1 }, Uses::default());
        let (code, prose) = if is_prose { (none, some) } else { (some, none) };
        Self { code, prose }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            code: self.code.plus(other.code),
            prose: self.prose.plus(other.prose),
        }
    }

    /// Of both, the larger of each kind.
    pub(super) fn highest(self, other: Self) -> Self {
        let higher = |a: Uses, b: Uses| if b.uses > a.uses { b } else { a };
        Self {
            code: higher(self.code, other.code),
            prose: higher(self.prose, other.prose),
        }
    }

    /// Tells whether so many uses are enough to miss the identifier when they are no more.
    pub(super) fn is_seen(self) -> bool {
        self.code.uses > 0 || self.prose.uses >= USES_IN_PROSE
    }

    /// Tells whether of what this was next to nothing is left: fewer than a tenth of the uses,
    /// in one file or in a tenth of the files.
    ///
    /// Only the files tell a rename from a large test that went.
    pub(super) fn is_all_but_gone(self, now: Self) -> bool {
        let in_code = self.code.uses > 0;
        let (then, now) = if in_code {
            (self.code, now.code)
        } else {
            (self.prose, now.prose)
        };
        let is_tenth = |now: u32, then: u32| now.saturating_mul(LEFT_OF) < then;
        is_tenth(now.uses, then.uses) && (now.files <= 1 || is_tenth(now.files, then.files))
    }

    /// In how many files it stands.
    pub(super) fn files(self) -> u32 {
        self.code.files + self.prose.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn count([uses, files, prose]: [u32; 3]) -> Count {
        Count {
            code: Uses { uses, files },
            prose: Uses {
                uses: prose,
                files: prose,
            },
        }
    }

    #[rstest]
    #[case::renamed([4, 2, 0], [0, 0, 0], true)]
    #[case::named_in_the_changelog([4, 2, 0], [0, 0, 2], true)]
    #[case::left_in_one_file([90, 58, 3], [2, 1, 1], true)]
    #[case::a_tenth_is_left([10, 5, 0], [1, 1, 0], false)]
    #[case::a_large_test_went([300, 4, 0], [20, 3, 0], false)]
    #[case::grown([4, 2, 0], [40, 9, 0], false)]
    #[case::gone_from_the_pages([0, 0, 20], [0, 0, 1], true)]
    fn next_to_nothing_is_left(#[case] then: [u32; 3], #[case] now: [u32; 3], #[case] gone: bool) {
        assert_eq!(count(then).is_all_but_gone(count(now)), gone);
    }
}
