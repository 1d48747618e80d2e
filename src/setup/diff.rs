//! What changes between two texts, line by line, as `diff -u` shows it.

use std::fmt::Write as _;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Larger tables of lines against lines are not made: all of the middle counts as changed.
const MAX_CELLS: usize = 4 << 20;

/// A line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The changes from `old` to `new` under the name of the file; empty when there are none.
pub fn diff(name: &str, old: &str, new: &str) -> String {
    let lines = compare(&split(old), &split(new));
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let changes: Vec<usize> = (0..lines.len()).filter(|&n| is_change(&lines[n])).collect();
    let mut text = String::new();
    if changes.is_empty() {
        return text;
    }
    // Writing to a string cannot fail.
    _ = write!(text, "--- {name}\n+++ {name}\n");
    for run in changes.chunk_by(|a, b| b - a <= 2 * CONTEXT + 1) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let hunk = first.saturating_sub(CONTEXT)..(last + CONTEXT + 1).min(lines.len());
        let count = |lines: &[Line<'_>], other: fn(&Line<'_>) -> bool| {
            lines.iter().filter(|line| !other(line)).count()
        };
        let (is_new, is_gone) = (
            |line: &Line<'_>| matches!(line, Line::New(_)),
            |line: &Line<'_>| matches!(line, Line::Gone(_)),
        );
        let (before, within) = (&lines[..hunk.start], &lines[hunk.clone()]);
        let range = |other: fn(&Line<'_>) -> bool| {
            let length = count(within, other);
            let start = count(before, other) + usize::from(length > 0);
            format!("{start},{length}")
        };
        _ = writeln!(text, "@@ -{} +{} @@", range(is_new), range(is_gone));
        for line in within {
            let (mark, line) = match line {
                Line::Same(line) => (' ', line),
                Line::Gone(line) => ('-', line),
                Line::New(line) => ('+', line),
            };
            _ = write!(text, "{mark}{line}");
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut lines: Vec<_> = old[..front].iter().map(|line| Line::Same(line)).collect();
    lines.extend(middle(
        &old_rest[..old_rest.len() - back],
        &new_rest[..new_rest.len() - back],
    ));
    lines.extend(old[old.len() - back..].iter().map(|line| Line::Same(line)));
    lines
}

/// A longest common subsequence, by its table of lengths.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    let cells = (old.len() + 1).saturating_mul(width);
    let mut lengths = vec![0_u32; if cells > MAX_CELLS { 0 } else { cells }];
    if !lengths.is_empty() {
        for a in (0..old.len()).rev() {
            for b in (0..new.len()).rev() {
                lengths[a * width + b] = if old[a] == new[b] {
                    lengths[(a + 1) * width + b + 1] + 1
                } else {
                    lengths[(a + 1) * width + b].max(lengths[a * width + b + 1])
                };
            }
        }
    }
    let length = |a: usize, b: usize| lengths.get(a * width + b).copied().unwrap_or_default();
    let mut lines = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if !lengths.is_empty() && a < old.len() && b < new.len() && old[a] == new[b] {
            lines.push(Line::Same(old[a]));
            (a, b) = (a + 1, b + 1);
        } else if a < old.len() && (b == new.len() || length(a + 1, b) >= length(a, b + 1)) {
            lines.push(Line::Gone(old[a]));
            a += 1;
        } else {
            lines.push(Line::New(new[b]));
            b += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changes_with_the_lines_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let expected = "--- x\n+++ x\n@@ -2,11 +2,12 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n i\n j\n k\n-l\n\\ No newline at end of file\n+l\n+m\n";
        assert_eq!(diff("x", old, new), expected);
        assert_eq!(diff("x", old, old), "");
        assert_eq!(diff("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n");
    }

    #[test]
    fn changes_far_apart_stand_by_themselves() {
        let numbers: Vec<_> = (0..40).map(|n| n.to_string()).collect();
        let old = numbers.join("\n") + "\n";
        let new = old.replace("5\n6\n", "5\nx\n6\n").replace("30\n", "");
        let shown = diff("x", &old, &new);
        assert_eq!(shown.matches("@@ -").count(), 2, "{shown}");
        let changed: Vec<_> = shown
            .lines()
            .skip(2)
            .filter(|line| line.starts_with(['+', '-']))
            .collect();
        assert_eq!(changed, ["+x", "-30"]);
    }
}
