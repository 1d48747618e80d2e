//! The points at which a process can be hit, and the faults that are possible there.

use std::fs;
use std::path::Path;

/// A point of a process of a move, and the fault at it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    pub(crate) step: usize,
    pub(crate) role: String,
    pub(crate) number: u64,
    pub(crate) fate: &'static str,
    /// The operation that the process is about to do.
    pub(crate) name: String,
}

pub(crate) fn with_fates(point: &Fault) -> Vec<Fault> {
    let can_fail = point.fate == CAN_FAIL;
    let fates = [("abort", true), ("enospc", can_fail), ("full", can_fail)];
    let fates = fates.into_iter().filter(|(_, possible)| *possible);
    fates
        .map(|(fate, _)| Fault {
            fate,
            ..point.clone()
        })
        .collect()
}

pub(crate) const CAN_FAIL: &str = "can fail";
pub(crate) const CANNOT_FAIL: &str = "cannot fail";

pub(crate) fn read_points(log: &Path, step: usize) -> Vec<Fault> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut points = Vec::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        if let (Some(role), Some(Ok(number)), Some(can_fail), Some(name)) = (
            words.next(),
            words.next().map(str::parse),
            words.next(),
            words.next(),
        ) {
            points.push(Fault {
                step,
                role: role.to_owned(),
                number,
                fate: [CANNOT_FAIL, CAN_FAIL][usize::from(can_fail == "true")],
                name: name.to_owned(),
            });
        }
    }
    points.sort();
    points
}
