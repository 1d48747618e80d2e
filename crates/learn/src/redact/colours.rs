//! Drops the colours of a terminal, and its other control sequences, from a stream.

const ESCAPE: u8 = 0x1b;

/// The position of a stream in a control sequence, such as `ESC [ 3 1 m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Colours {
    #[default]
    Outside,
    /// Just behind an escape character.
    Escape,
    /// Behind `ESC [`.
    Sequence,
}

impl Colours {
    /// Adds the next bytes of the stream to `kept`, without the sequences in them.
    pub(super) fn drop_from(&mut self, bytes: &[u8], kept: &mut Vec<u8>) {
        for byte in bytes {
            *self = match (*self, byte) {
                (Self::Escape, b'[') | (Self::Sequence, b' '..=b'?') => Self::Sequence,
                (Self::Sequence, b'@'..=b'~') => Self::Outside,
                (_, &ESCAPE) => {
                    self.end(kept);
                    Self::Escape
                }
                _ => {
                    self.end(kept);
                    kept.push(*byte);
                    Self::Outside
                }
            };
        }
    }

    /// Adds an escape character that nothing followed, or no sequence.
    pub(super) fn end(&mut self, kept: &mut Vec<u8>) {
        if *self == Self::Escape {
            kept.push(ESCAPE);
        }
        *self = Self::Outside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn kept(chunks: &[&[u8]]) -> Vec<u8> {
        let (mut colours, mut kept) = (Colours::default(), Vec::new());
        for chunk in chunks {
            colours.drop_from(chunk, &mut kept);
        }
        colours.end(&mut kept);
        kept
    }

    #[rstest]
    #[case::colours(b"a\x1b[1;31mb\x1b[0mc", b"abc")]
    #[case::no_sequence(b"a\x1b]8;;x\x1b\x1b[mb\x1b", b"a\x1b]8;;x\x1bb\x1b")]
    #[case::broken_off(b"a\x1b[31\nb\x1b[3", b"a\nb")]
    fn all_else_stays(#[case] text: &[u8], #[case] want: &[u8]) {
        assert_eq!(kept(&[text]), want);
    }

    proptest! {
        #[test]
        fn it_matters_not_where_a_chunk_ends(text in "[\x1b\\[3ma]{0,20}", at in 0_usize..20) {
            let text = text.as_bytes();
            let (head, tail) = text.split_at(at.min(text.len()));
            prop_assert_eq!(kept(&[head, tail]), kept(&[text]));
        }
    }
}
