//! Promise: README is short, its picture shows the demo's present output, and no figure in it
//! exceeds its limit.

use crate::common::env::TestEnv;

#[path = "../../examples/picture.rs"]
#[allow(dead_code, reason = "the example's `main` is not called here")]
mod picture;

const README: &str = include_str!("../../README.md");

#[test]
fn the_readme_is_read_in_a_few_minutes() {
    let lines = README.lines().count();
    assert!(lines <= 150, "{lines} lines");
}

#[test]
fn the_picture_is_what_the_demo_says() {
    let told = TestEnv::new().cli(&["demo", "--json"]).json();
    assert!(
        picture::picture(&told) == include_str!("../../docs/demo.svg"),
        "run: cargo run -- demo --json | cargo run --example picture > docs/demo.svg"
    );
}

#[test]
fn every_figure_is_within_its_limit() {
    let head = "| hook | ratio | limit |\n|---|---:|---:|\n";
    let (_, table) = README.split_once(head).expect("the table of figures");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    assert!(rows.clone().count() > 0);
    for row in rows {
        let cells = row.split('|').filter_map(|cell| cell.trim().parse().ok());
        let figures: Vec<f64> = cells.collect();
        let is_within = matches!(figures[..], [ratio, limit] if ratio <= limit);
        assert!(is_within, "{row}");
    }
}
