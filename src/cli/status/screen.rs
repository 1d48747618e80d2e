//! A glance drawn for a terminal: at most a screen, whatever there is to say.

use std::fmt::Write as _;

use anstyle::Style;

use super::glance::{Glance, Jobs, Last, Step, Sums, Today};
use crate::cli::output::{BAD, BOLD, DIM, GOOD, NAME, grouped, plain};
use crate::cli::remembered::count;
use crate::cli::tell;
use crate::cli::width::{cells, fit};
use crate::report::Sum;

const INDENT: usize = 10;
/// The name of a section and what stands left of the bar.
const BEFORE_BAR: usize = 40;
const BAR: usize = 32;
/// A column of words is never narrower.
const COLUMN: usize = 20;
const DEEDS: usize = 4;
const PROBLEMS: usize = 3;
const HELPED: &str = "█";
const HARMED: &str = "░";

/// Draws the glance with lines of at most `width` cells.
pub(super) fn draw(glance: &Glance, width: usize) -> String {
    let mut screen = Screen {
        text: String::new(),
        width,
    };
    screen.title(glance);
    if glance.key_points > 0 {
        screen.sections(&glance.sections);
        screen.gap();
    }
    if let Some(last) = &glance.last {
        screen.last(last);
        screen.gap();
    }
    if let Some(jobs) = &glance.jobs {
        screen.line("Jobs", Style::new(), &told_of_jobs(jobs));
    }
    if let Some(today) = &glance.today {
        screen.line("Today", Style::new(), &told_of_today(today));
    }
    for problem in glance.problems.iter().take(PROBLEMS) {
        screen.problem(&plain(problem));
    }
    screen.steps(&glance.next);
    screen.text
}

struct Screen {
    text: String,
    width: usize,
}

impl Screen {
    fn title(&mut self, glance: &Glance) {
        let name = glance.project.file_name().unwrap_or_default();
        let name = fit(&plain(&name.to_string_lossy()), self.width / 2);
        let told = match glance.key_points {
            0 => "no key points yet".to_owned(),
            points => count(points, "key point"),
        };
        let taken = cells(&name) + cells(&told) + 4;
        let folder = plain(&glance.project.to_string_lossy());
        let folder = fit(&folder, self.width.saturating_sub(taken));
        self.put(format_args!(
            "{BOLD}{name}{BOLD:#}  {told}  {DIM}{folder}{DIM:#}"
        ));
        self.gap();
    }

    fn sections(&mut self, sections: &[Sums]) {
        let votes = |sums: &Sums| sums.helpful.saturating_add(sums.harmful);
        let most = sections.iter().map(votes).max().unwrap_or_default();
        let room = self.width.saturating_sub(BEFORE_BAR).min(BAR);
        for sums in sections.iter().filter(|sums| sums.key_points > 0) {
            let helped = length(sums.helpful, most, room);
            let harmed = length(sums.harmful, most, room).min(room - helped.min(room));
            let harmful = grouped(sums.harmful);
            // Outside of the colour, so that the end of a line can be trimmed.
            let pad = " ".repeat(5_usize.saturating_sub(harmful.len()));
            let bar = match (HELPED.repeat(helped), HARMED.repeat(harmed)) {
                (helped, harmed) if helped.is_empty() && harmed.is_empty() => String::new(),
                (helped, harmed) => format!(" {GOOD}{helped}{GOOD:#}{BAD}{harmed}{BAD:#}"),
            };
            let (title, points) = (sums.section.title(), grouped(sums.key_points));
            let votes = format!(
                "{GOOD}{:>5}{GOOD:#}/{BAD}{harmful}{BAD:#}",
                grouped(sums.helpful)
            );
            self.put(format_args!(
                "{title:<21} {BOLD}{points:>4}{BOLD:#}  {votes}{pad}{bar}"
            ));
        }
        if most > 0 && room > 0 {
            let legend = format!("{HELPED} helpful  {HARMED} harmful");
            let before = BEFORE_BAR.min(self.width.saturating_sub(cells(&legend)));
            self.put(format_args!("{:before$}{DIM}{legend}{DIM:#}", ""));
        }
    }

    fn last(&mut self, last: &Last) {
        let actor = tell::actor(&last.event, &last.session, &last.backend);
        let when = format!("{}, {actor}", tell::time(last.time));
        self.line("Learned", DIM, &when);
        let room = self.width - INDENT;
        for (point, deed) in last.deeds.iter().take(DEEDS) {
            let point = fit(&plain(point), room / 3);
            let deed = fit(deed, room.saturating_sub(cells(&point).max(8) + 2));
            let pad = " ".repeat(8_usize.saturating_sub(cells(&point)));
            self.put(format_args!(
                "{:INDENT$}{NAME}{point}{NAME:#}{pad}  {deed}",
                ""
            ));
        }
        if last.deeds.len() > DEEDS {
            let (more, job) = (last.deeds.len() - DEEDS, plain(&last.job));
            self.line("", DIM, &format!("and {more} more: playbook log {job}"));
        }
    }

    fn problem(&mut self, problem: &str) {
        let lines = textwrap::wrap(problem, self.width - INDENT);
        for (n, line) in lines.iter().enumerate() {
            self.line(if n == 0 { "Problem" } else { "" }, BAD, line);
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        let widest = steps.iter().map(|step| cells(&step.command)).max();
        let widest = widest.unwrap_or_default();
        for (n, Step { command, why }) in steps.iter().enumerate() {
            let title = if n == 0 { "Next" } else { "" };
            // Beside the command, else below it.
            let beside = INDENT + widest + 2;
            let is_beside = self.width >= beside + COLUMN;
            let before = if is_beside { beside } else { INDENT };
            let mut why = textwrap::wrap(why, self.width - before)
                .into_iter()
                .peekable();
            let first = why.next_if(|_| is_beside).unwrap_or_default();
            self.put(format_args!(
                "{BOLD}{title:<INDENT$}{BOLD:#}{NAME}{command:<widest$}{NAME:#}  {DIM}{first}{DIM:#}"
            ));
            for more in why {
                self.put(format_args!("{:before$}{DIM}{more}{DIM:#}", ""));
            }
        }
    }

    /// A line with a title before it; what does not fit is left out.
    fn line(&mut self, title: &str, style: Style, value: &str) {
        let value = fit(value, self.width - INDENT);
        self.put(format_args!(
            "{BOLD}{title:<INDENT$}{BOLD:#}{style}{value}{style:#}"
        ));
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        _ = writeln!(self.text, "{}", line.to_string().trim_end());
    }
}

/// How many cells of `room` stand for `votes` of `most`; none only for none.
fn length(votes: u64, most: u64, room: usize) -> usize {
    if votes == 0 || most == 0 || room == 0 {
        return 0;
    }
    let cells = u128::from(votes) * room as u128 / u128::from(most);
    usize::try_from(cells).unwrap_or(room).clamp(1, room)
}

fn told_of_jobs(jobs: &Jobs) -> String {
    let parts = [
        (jobs.ready, "ready"),
        (jobs.waiting, "waiting"),
        (jobs.failed, "failed"),
        (jobs.elsewhere, "of other projects"),
    ];
    let told = parts.into_iter().filter(|(number, _)| *number > 0);
    let told: Vec<String> = told
        .map(|(number, word)| format!("{} {word}", grouped(number)))
        .collect();
    if told.is_empty() {
        "none waiting".to_owned()
    } else {
        told.join(", ")
    }
}

fn told_of_today(today: &Today) -> String {
    let (here, all) = (&today.project, &today.all_projects);
    if all.calls == 0 {
        return "nothing spent".to_owned();
    }
    let of = |limit: Option<u64>| limit.map_or(String::new(), |n| format!(" of {}", grouped(n)));
    let tokens = |sum: &Sum| grouped(sum.tokens_in.saturating_add(sum.tokens_out));
    let (calls, most_calls) = (grouped(all.calls), of(today.calls_per_day));
    let (spent, most_tokens) = (tokens(all), of(today.tokens_per_day));
    let told = format!("{calls}{most_calls} calls, {spent}{most_tokens} tokens");
    if here == all {
        return told;
    }
    format!("{told} (here {}, {})", grouped(here.calls), tokens(here))
}
