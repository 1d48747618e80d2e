//! Scratch: lists fixes.
use playbook::transcript::{Options, Range, scan};
fn main() {
    for path in std::env::args().skip(1) {
        let path = std::path::PathBuf::from(path);
        let len = std::fs::metadata(&path).unwrap().len();
        let range = Range { start: 0, end: len };
        let d = scan(&path, range, &Options::default(), &mut |_, _| false).unwrap();
        for e in &d.facts.errors {
            println!("{} E {} x{} [{}] {}", path.file_stem().unwrap().to_string_lossy().chars().take(12).collect::<String>(), e.signature, e.occurrences, e.subject, e.message);
            for w in &e.ways { println!("      FIX {w}"); }
        }
    }
}
