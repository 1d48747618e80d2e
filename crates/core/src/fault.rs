//! Numbered points at which a process can be stopped or a write can fail, for the proof that
//! neither loses or doubles anything (`tests/faults`).
//!
//! Compiled to nothing in a release build. A point precedes
//! everything that has an effect outside the process: each step of a call of [`fsx`](crate::fsx);
//! begin and commit of each transaction; each start of a process; each reply of a model.

#[cfg(not(debug_assertions))]
use std::io;

/// A point at which the process can be stopped.
#[cfg(not(debug_assertions))]
#[inline]
pub fn stop(_name: &'static str) {}

#[cfg(not(debug_assertions))]
#[inline]
// Fails only in debug builds.
#[allow(clippy::unnecessary_wraps)]
pub fn write(_name: &'static str) -> io::Result<()> {
    Ok(())
}

#[cfg(debug_assertions)]
pub use with_faults::{stop, write};

#[cfg(debug_assertions)]
mod with_faults {
    use std::env;
    use std::fs::OpenOptions;
    use std::io::{self, Write as _};
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    /// `ROLE:PLACE:FATE`: selects the process, the point and the fault. The place is the number of
    /// a point, or a name for the first point with it.
    const FAULT: &str = "PLAYBOOK_FAULT";
    /// A file that receives a line `ROLE NUMBER CAN-FAIL NAME` for each point passed.
    const LOG: &str = "PLAYBOOK_FAULT_LOG";

    struct Plan {
        role: String,
        log: Option<PathBuf>,
        fault: Option<(FaultPoint, AtFault)>,
        passed: AtomicU64,
        fired: AtomicBool,
    }

    #[derive(Clone, PartialEq, Eq)]
    enum FaultPoint {
        Number(u64),
        Name(String),
    }

    impl FaultPoint {
        fn is_at(&self, number: u64, name: &str) -> bool {
            match self {
                // Concurrent work may pass its points in another order than when they were counted.
                // A write that is to fail may then come a little later.
                Self::Number(at) => number >= *at,
                Self::Name(at) => at == name,
            }
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum AtFault {
        Abort,
        Pause,
        /// This one call fails: no space left.
        Enospc,
        /// This and every later call fail: the disk is full.
        Full,
    }

    pub fn stop(name: &'static str) {
        // No write happens at this point, so nothing can fail.
        _ = plan().pass(name, false);
    }

    pub fn write(name: &'static str) -> io::Result<()> {
        plan().pass(name, true)
    }

    fn plan() -> &'static Plan {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| {
            let role = role();
            let fault = env::var(FAULT).ok().and_then(|text| fault(&text, &role));
            Plan {
                role,
                log: env::var_os(LOG).map(PathBuf::from),
                fault,
                passed: AtomicU64::new(0),
                fired: AtomicBool::new(false),
            }
        })
    }

    fn role() -> String {
        let args: Vec<_> = env::args().collect();
        let program = args.first().map(PathBuf::from).unwrap_or_default();
        let program = program.file_name().unwrap_or_default().to_string_lossy();
        match args.get(1) {
            Some(_) if args.iter().any(|arg| arg == "--detach") => "detach".to_owned(),
            Some(command) => command.clone(),
            None => program.into_owned(),
        }
    }

    fn fault(text: &str, role: &str) -> Option<(FaultPoint, AtFault)> {
        let (of, rest) = text.split_once(':')?;
        let (place, fate) = rest.rsplit_once(':')?;
        let place = place
            .parse()
            .map_or_else(|_| FaultPoint::Name(place.to_owned()), FaultPoint::Number);
        let fate = match fate {
            "abort" => AtFault::Abort,
            "pause" => AtFault::Pause,
            "enospc" => AtFault::Enospc,
            "full" => AtFault::Full,
            _ => return None,
        };
        (of == role).then_some((place, fate))
    }

    impl Plan {
        fn pass(&self, name: &str, can_fail: bool) -> io::Result<()> {
            if self.log.is_none() && self.fault.is_none() {
                return Ok(());
            }
            let number = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
            self.log(&format!("{} {number} {can_fail} {name}", self.role));
            let Some((place, fate)) = &self.fault else {
                return Ok(());
            };
            let was_fired = self.fired.load(Ordering::SeqCst);
            let can_strike = can_fail || matches!(fate, AtFault::Abort | AtFault::Pause);
            if !was_fired && can_strike && place.is_at(number, name) {
                self.fired.store(true, Ordering::SeqCst);
                self.log("fired");
                return Self::strike(*fate);
            }
            // A full disk stays full.
            if was_fired && can_fail && *fate == AtFault::Full {
                return Self::strike(*fate);
            }
            Ok(())
        }

        fn strike(fate: AtFault) -> io::Result<()> {
            let signal = match fate {
                AtFault::Abort => Signal::KILL,
                AtFault::Pause => Signal::STOP,
                AtFault::Enospc | AtFault::Full => return Err(io::ErrorKind::StorageFull.into()),
            };
            _ = kill_process(getpid(), signal);
            // The signal may reach another thread first.
            thread::sleep(Duration::from_millis(100));
            Ok(())
        }

        fn log(&self, line: &str) {
            if let Some(file) = &self.log {
                // Written in one call, so that lines of several processes do not mix.
                let log = OpenOptions::new().create(true).append(true).open(file);
                _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
            }
        }
    }
}
