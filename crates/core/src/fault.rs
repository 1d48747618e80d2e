//! Numbered points at which a process can be made to stop or a write to fail: for the
//! proof that neither loses or doubles anything (`tests/faults`).
//!
//! Compiled to nothing without the feature `faults`, which only the tests enable. A point
//! stands before everything that leaves a trace outside of the process: each call of
//! [`fsx`](crate::fsx) and, where a call is more than one step, between them; begin and
//! commit of each transaction; each start of a process; each reply of a model.

#[cfg(not(feature = "faults"))]
use std::io;

/// A point at which the process can be stopped.
#[cfg(not(feature = "faults"))]
#[inline]
pub fn stop(_name: &'static str) {}

/// A point at which the process can be stopped, or told that the disk is full.
#[cfg(not(feature = "faults"))]
#[inline]
// With the feature it can fail.
#[allow(clippy::unnecessary_wraps)]
pub fn write(_name: &'static str) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub use with_faults::{stop, write};

#[cfg(feature = "faults")]
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

    /// `ROLE:PLACE:FATE`: what happens at which point of which process. The place is the
    /// number of a point, or a name: then it is the first point of that name.
    const FAULT: &str = "PLAYBOOK_FAULT";
    /// A file that gets a line `ROLE NUMBER CAN-FAIL NAME` for each point passed.
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
                // What runs side by side may come in another order than when it was counted, and a
                // write that is to fail then stands a little later.
                Self::Number(at) => number >= *at,
                Self::Name(at) => at == name,
            }
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum AtFault {
        Abort,
        /// Stops until somebody lets the process go on.
        Pause,
        /// The one call fails: no space left.
        Enospc,
        /// This and every later call fail: the disk is full.
        Full,
    }

    /// A point at which the process can be stopped.
    pub fn stop(name: &'static str) {
        // Nothing is written here, so there is nothing that could fail.
        _ = plan().pass(name, false);
    }

    /// A point that writes: there the process can be stopped, or the disk full.
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

    /// Which part this process plays: a hook, the one that detaches, the worker, a command.
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
            // A disk that was found full stays so.
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
                // A line at once, so that those of several processes do not mix.
                let log = OpenOptions::new().create(true).append(true).open(file);
                _ = log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes()));
            }
        }
    }
}
