//! Locks on files. Kept behind this one file, so that the standard library's lock can replace
//! fs2. A file system without locks counts as locked: there, as on NFS, two machines are not
//! protected from each other.

use std::fs::File;
use std::io;

use fs2::FileExt;

/// Tries to lock a file; tells whether nobody else holds it.
///
/// Where a file system knows no locks, each counts as had: what has to be done once is
/// better done twice than not at all.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    had(FileExt::try_lock_exclusive(file))
}

fn had(tried: io::Result<()>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(e) if is_unsupported(&e) => Ok(true),
        Err(e) if is_held(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
        || error.kind() == io::ErrorKind::Interrupted
}

/// Tells whether a file system knows no locks, or has nobody who keeps them.
fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.kind() == io::ErrorKind::Unsupported
        || [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::NOLCK]
            .iter()
            .any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use rustix::io::Errno;

    #[rstest]
    #[case::had(None, true)]
    #[case::held_by_another(Some(Errno::WOULDBLOCK), false)]
    #[case::no_locks(Some(Errno::NOTSUP), true)]
    #[case::nobody_to_keep_them(Some(Errno::NOLCK), true)]
    #[case::unknown_call(Some(Errno::NOSYS), true)]
    fn where_there_are_no_locks_none_is_waited_for(
        #[case] refused: Option<Errno>,
        #[case] is_had: bool,
    ) {
        let tried = refused.map_or(Ok(()), |e| Err(e.into()));
        assert_eq!(had(tried).unwrap(), is_had);
    }
}
