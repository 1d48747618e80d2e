//! Judges a session without a model: no network, the same answer every time.
//!
//! | what the session shows | what follows |
//! |---|---|
//! | a cited point, and its turn went on without an error, a rejection or an interrupt | helpful |
//! | a cited point, then the user refused a call and said why | harmful |
//! | a cited point, then anything else; a point cited only to say that it failed | neutral |
//! | a point that was not cited | no tag |
//! | the user says how things are always to be done | ADD to USER PREFERENCES |
//! | in two sessions a command failed and another one worked in its place | ADD to MISTAKES TO AVOID |
//!
//! Nothing else is certain enough to be learned without being understood. A point cited more
//! than once gets the verdict of its weightiest use: harmful before helpful before neutral.
//! Neutral is the lack of evidence, so any evidence outweighs it; and of two verdicts harm
//! counts, because a wrong point costs more than a missed credit.
//!
//! Both answers are JSON texts of the form a model gives, and go the same way.

use serde_json::{Value, json};

use super::reply::{Curation, Reflection};
use crate::playbook::clean::clean_text;
use crate::playbook::dedup::{Threshold, Wording};
use crate::playbook::ops::MAX_OPERATIONS;
use crate::playbook::tags::{BulletTag, Tag};
use crate::playbook::{Id, Playbook, Section};
use crate::transcript::standing;
use crate::transcript::{CitationUse, Facts, FollowUp, Replacement, SaidKind, Stance};

/// Characters of a quotation, at most.
const MAX_QUOTE: usize = 160;
/// How similar what was said is to what the playbook says already, when it is not added.
const SAID_BEFORE: f64 = 0.6;
/// In so many sessions a command was replaced before that is learned.
const SESSIONS: u64 = 2;
/// Characters of a command, at most: a longer one is a script, not a habit.
const MAX_COMMAND: usize = 160;
/// What must never become advice: it forces, skips a check, escalates, destroys or fetches.
const NEVER_ADVICE: &[&str] = &[
    "--force",
    " -f ",
    "--no-verify",
    "--skip",
    "--ignore",
    "--insecure",
    "--yes",
    "sudo ",
    "rm -",
    "chmod 777",
    "|| true",
    "| sh",
    "| bash",
    "reset --hard",
    "/tmp/",
    "://",
];

/// How much the analysis says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryLimits {
    /// Words (by white space) of the analysis.
    pub(crate) summary_tokens: usize,
    pub(crate) topk_snippets: usize,
}

impl Default for SummaryLimits {
    fn default() -> Self {
        Self {
            summary_tokens: 128,
            topk_snippets: 3,
        }
    }
}

/// Returns the reflector's answer.
pub fn reflect(facts: &Facts, playbook: &Playbook, limits: SummaryLimits) -> String {
    let bullet_tags: Vec<BulletTag> = facts
        .citations
        .iter()
        .filter(|id| playbook.get(id).is_some())
        .map(|id| verdict(id, facts))
        .collect();
    let reflection = Reflection {
        analysis: summary(facts, &bullet_tags, limits),
        bullet_tags,
        tags: facts
            .category
            .map(|category| category.name().to_owned())
            .into_iter()
            .collect(),
        ..Reflection::default()
    };
    json!(reflection).to_string()
}

/// Returns the curator's answer.
pub fn curate(facts: &Facts, playbook: &Playbook) -> String {
    let lessons = lessons(facts, playbook);
    let operations: Vec<Value> = lessons
        .iter()
        .map(
            |lesson| json!({"type": "ADD", "text": lesson.text, "section": lesson.section.title(), "reason": lesson.reason}),
        )
        .collect();
    let reasoning = match operations.len() {
        0 => "Nothing in this session is a rule for others.".to_owned(),
        count => format!("New: {count}, said by the user or shown by commands."),
    };
    json!(Curation {
        reasoning,
        operations,
    })
    .to_string()
}

/// The verdict of the weightiest use of a cited point; the first of equals.
fn verdict(id: &Id, facts: &Facts) -> BulletTag {
    let uses = facts.uses.iter().filter(|cited| cited.id == *id);
    let (tag, rationale) = uses
        .rev()
        .map(|cited| (tag_of(cited), cited))
        .max_by_key(|(tag, _)| {
            [Tag::Neutral, Tag::Helpful, Tag::Harmful]
                .iter()
                .position(|t| t == tag)
        })
        .map_or_else(
            || {
                (
                    Tag::Neutral,
                    "Cited; nothing shows what came of it.".to_owned(),
                )
            },
            |(tag, cited)| (tag, rationale(cited)),
        );
    BulletTag {
        name: id.to_string(),
        tag,
        rationale,
    }
}

fn tag_of(cited: &CitationUse) -> Tag {
    match (cited.stance, &cited.followed_by) {
        (Stance::Takes, FollowUp::Clean) => Tag::Helpful,
        (Stance::Takes, FollowUp::Rejected { words }) if !words.trim().is_empty() => Tag::Harmful,
        _ => Tag::Neutral,
    }
}

fn rationale(cited: &CitationUse) -> String {
    let quoted = |before: &str, text: &str| {
        quote(text).map_or_else(String::new, |quote| format!("{before}{quote}"))
    };
    let place = quoted(" in ", &cited.quote);
    let then = match &cited.followed_by {
        _ if cited.stance == Stance::Disowns => ", which says that it failed".to_owned(),
        FollowUp::Clean => "; the turn went on without an error or an objection".to_owned(),
        FollowUp::ToolError { tool, message } => {
            format!(
                "; then {} failed{}",
                clean_text(tool),
                quoted(": ", message)
            )
        }
        FollowUp::Interrupted => "; then the user interrupted, without a word why".to_owned(),
        FollowUp::Rejected { words } => {
            format!("; the user refused what followed{}", quoted(": ", words))
        }
    };
    format!("Cited{place}{then}.")
}

/// The text in quotation marks, on one line and cut; `None` when there is nothing to quote.
fn quote(text: &str) -> Option<String> {
    let text = clean_text(text);
    let mut end = text.char_indices().map(|(at, _)| at).skip(MAX_QUOTE);
    let text = match end.next() {
        Some(at) => format!("{}…", text[..at].trim_end()),
        None => text,
    };
    (!text.is_empty()).then(|| format!("\"{text}\""))
}

/// What went on, in at most as many words as allowed.
fn summary(facts: &Facts, tags: &[BulletTag], limits: SummaryLimits) -> String {
    let category = facts
        .category
        .map(|c| format!(" ({})", c.name()))
        .unwrap_or_default();
    let mut parts = vec![format!("Outcome: {}{category}.", facts.outcome.name())];
    let counts = counts(facts).join(", ");
    if !counts.is_empty() {
        parts.push(format!("Seen: {counts}."));
    }
    let tagged = tags
        .iter()
        .map(|tag| format!("{} {}", tag.name, tag.tag.word()));
    let tagged: Vec<String> = tagged.collect();
    if !tagged.is_empty() {
        parts.push(format!("Cited: {}.", tagged.join(", ")));
    }
    let request = facts.first_request.as_deref().and_then(quote);
    parts.extend(request.map(|request| format!("Asked for: {request}.")));
    let said = facts.said.iter().filter_map(|said| {
        let who = match said.kind {
            SaidKind::RejectionWords => "The user refused",
            SaidKind::StandingInstruction => "The user instructed",
            SaidKind::Unread => return None,
        };
        Some(format!("{who}: {}.", quote(&said.text)?))
    });
    parts.extend(said.take(limits.topk_snippets));
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    words
        .take(limits.summary_tokens)
        .collect::<Vec<_>>()
        .join(" ")
}

fn counts(facts: &Facts) -> Vec<String> {
    let counts = [
        (facts.user_turns + facts.commands, "request"),
        (facts.tool_calls, "tool call"),
        (facts.tool_errors, "tool error"),
        (facts.rejections, "refused call"),
        (facts.interrupts, "interrupt"),
    ];
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown
        .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Lesson {
    section: Section,
    text: String,
    reason: String,
}

/// What the session teaches and the playbook does not say yet.
fn lessons(facts: &Facts, playbook: &Playbook) -> Vec<Lesson> {
    let instructions = facts.said.iter().filter_map(|said| {
        let is_standing = said.kind == SaidKind::StandingInstruction;
        Some(Lesson {
            section: Section::Preferences,
            text: standing::rule(&said.text).filter(|_| is_standing)?,
            reason: format!("The user said: {}.", quote(&said.text).unwrap_or_default()),
        })
    });
    let commands = facts.replacements.iter().filter_map(|replaced| {
        Some(Lesson {
            section: Section::Mistakes,
            text: use_instead(replaced)?,
            reason: format!(
                "In {} sessions the one failed and the other worked: {}.",
                replaced.sessions,
                quote(&replaced.error).unwrap_or_default()
            ),
        })
    });
    let threshold = Threshold::new(SAID_BEFORE);
    let mut known: Vec<Wording> = playbook
        .points()
        .map(|point| Wording::of(point.text))
        .collect();
    let mut lessons = Vec::new();
    for lesson in instructions.chain(commands) {
        let text = clean_text(&lesson.text);
        let wording = Wording::of(&text);
        let is_known = || known.iter().any(|other| wording.says_as(other, threshold));
        if text.is_empty() || is_known() {
            continue;
        }
        known.push(wording);
        lessons.push(Lesson { text, ..lesson });
        if lessons.len() == MAX_OPERATIONS {
            break;
        }
    }
    lessons
}

/// Says which command to use in place of another, once that is seen to recur.
fn use_instead(replaced: &Replacement) -> Option<String> {
    let (failed, worked) = (replaced.failed.trim(), replaced.worked.trim());
    let is_one_line = |command: &str| {
        !command.is_empty()
            && command.chars().count() <= MAX_COMMAND
            && !command.contains(|c: char| c.is_control() || matches!(c, '`' | '…'))
    };
    let spaced = format!("{worked} ");
    let is_advice = replaced.sessions >= SESSIONS
        && failed != worked
        && is_one_line(failed)
        && is_one_line(worked)
        && !NEVER_ADVICE.iter().any(|part| spaced.contains(part));
    is_advice.then(|| format!("`{failed}` fails here; use `{worked}` instead"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::transcript::{ErrorCategory, Outcome, Said};

    fn id(text: &str) -> Id {
        Id::parse(text).unwrap()
    }

    fn playbook() -> Playbook {
        let json = json!({"version": "1.0", "last_updated": null, "sections": {
            "PATTERNS & APPROACHES": [
                {"name": "pat-001", "text": "use type hints", "helpful": 3, "harmful": 0},
                {"name": "pat-002", "text": "write tests first", "helpful": 0, "harmful": 0}],
            "USER PREFERENCES": [
                {"name": "pref-001", "text": "Always answer in German", "helpful": 0, "harmful": 0},
                {"name": "pref-002", "text": "Always use at most 2 columns", "helpful": 0, "harmful": 0},
                {"name": "pref-003", "text": "Always use tabs, not spaces", "helpful": 0, "harmful": 0}]}});
        Playbook::parse(json.to_string().as_bytes()).unwrap()
    }

    fn cited(name: &str, quote: &str, followed_by: FollowUp) -> Facts {
        Facts {
            citations: vec![id(name)],
            uses: vec![CitationUse {
                id: id(name),
                quote: quote.to_owned(),
                stance: Stance::Takes,
                followed_by,
            }],
            ..Facts::default()
        }
    }

    fn told(text: &str) -> Facts {
        let said = Said {
            kind: SaidKind::StandingInstruction,
            text: text.to_owned(),
        };
        Facts {
            said: vec![said],
            ..Facts::default()
        }
    }

    fn reflected(facts: &Facts) -> Reflection {
        Reflection::parse(&reflect(facts, &playbook(), SummaryLimits::default()))
            .unwrap()
            .0
    }

    fn curated(facts: &Facts) -> Vec<Value> {
        Curation::parse(&curate(facts, &playbook()))
            .unwrap()
            .0
            .operations
    }

    #[rstest]
    #[case::clean(FollowUp::Clean, Tag::Helpful, "went on without")]
    #[case::tool_error(FollowUp::ToolError { tool: "Bash".into(), message: "Exit code 1".into() }, Tag::Neutral, "Bash failed: \"Exit code 1\"")]
    #[case::interrupted(FollowUp::Interrupted, Tag::Neutral, "interrupted")]
    #[case::rejected(FollowUp::Rejected { words: "not like this".into() }, Tag::Harmful, "refused what followed: \"not like this\"")]
    #[case::rejected_silently(FollowUp::Rejected { words: String::new() }, Tag::Neutral, "refused what followed.")]
    fn what_followed_a_citation_decides_its_tag(
        #[case] followed_by: FollowUp,
        #[case] tag: Tag,
        #[case] why: &str,
    ) {
        let tags = reflected(&cited(
            "pat-001",
            "As [pat-001] says, I add types.",
            followed_by,
        ))
        .bullet_tags;
        assert_eq!(tags.len(), 1);
        assert_eq!((tags[0].name.as_str(), tags[0].tag), ("pat-001", tag));
        assert!(tags[0].rationale.contains(why), "{}", tags[0].rationale);
        assert!(
            tags[0].rationale.contains("says, I add types."),
            "{}",
            tags[0].rationale
        );
    }

    #[rstest]
    #[case::harm_outweighs(&[FollowUp::Clean, FollowUp::Rejected { words: "no".into() }, FollowUp::Clean], Tag::Harmful)]
    #[case::help_outweighs_no_evidence(&[FollowUp::Interrupted, FollowUp::Clean], Tag::Helpful)]
    #[case::no_evidence(&[FollowUp::Interrupted, FollowUp::Interrupted], Tag::Neutral)]
    #[case::no_use_known(&[], Tag::Neutral)]
    fn the_weightiest_use_decides(#[case] uses: &[FollowUp], #[case] tag: Tag) {
        let mut facts = cited("pat-001", "", FollowUp::Clean);
        facts.uses = uses
            .iter()
            .map(|followed_by| CitationUse {
                id: id("pat-001"),
                quote: "q".to_owned(),
                stance: Stance::Takes,
                followed_by: followed_by.clone(),
            })
            .collect();
        let tags = reflected(&facts).bullet_tags;
        assert_eq!((tags.len(), tags[0].tag), (1, tag));
    }

    /// SCN-REFL-003-03, SCN-REFL-003-02: no key points, or none cited: no tags, an analysis.
    #[test]
    fn without_key_points_there_is_an_analysis_and_no_tag() {
        let facts = cited("pat-001", "q", FollowUp::Clean);
        let (reflection, _) = Reflection::parse(&reflect(
            &facts,
            &Playbook::empty(),
            SummaryLimits::default(),
        ))
        .unwrap();
        assert!(reflection.bullet_tags.is_empty() && !reflection.analysis.is_empty());
        let reflection = reflected(&Facts::default());
        assert!(reflection.bullet_tags.is_empty() && !reflection.analysis.is_empty());
    }

    /// "[pat-001] does not work here" is no praise, whatever follows.
    #[rstest]
    #[case(FollowUp::Clean)]
    #[case(FollowUp::Rejected { words: "no".into() })]
    fn a_point_that_was_disowned_gets_no_vote(#[case] followed_by: FollowUp) {
        let mut facts = cited("pat-001", "[pat-001] does not work here.", followed_by);
        facts.uses[0].stance = Stance::Disowns;
        let tags = reflected(&facts).bullet_tags;
        assert_eq!(tags[0].tag, Tag::Neutral);
        assert!(tags[0].rationale.contains("says that it failed"));
    }

    #[rstest]
    #[case::correction("\"correction\"")]
    #[case::fact("\"fact\"")]
    #[case::refusal("\"rejection_words\"")]
    fn of_what_else_was_said_nothing_is_learned(#[case] kind: &str) {
        let mut facts = told("never push to main");
        facts.said[0].kind = serde_json::from_str(kind).unwrap();
        assert_eq!(curated(&facts), Vec::<Value>::new());
    }

    #[rstest]
    #[case::seen_twice("pnpm test", 2, true)]
    #[case::seen_once("pnpm test", 1, false)]
    #[case::forces("npm test --force", 2, false)]
    #[case::skips_a_check("npm test || true", 2, false)]
    #[case::script("pnpm test\nls", 2, false)]
    #[case::the_same("npm test", 2, false)]
    fn a_command_that_was_replaced_twice_is_added_once(
        #[case] worked: &str,
        #[case] sessions: u64,
        #[case] is_added: bool,
    ) {
        let replaced = Replacement {
            failed: "npm test".to_owned(),
            worked: worked.to_owned(),
            error: "Missing script: \"test\"".to_owned(),
            sessions,
        };
        let facts = Facts {
            replacements: vec![replaced.clone(), replaced],
            ..Facts::default()
        };
        let added = is_added.then(|| {
            json!({"type": "ADD", "text": "`npm test` fails here; use `pnpm test` instead", "section": "MISTAKES TO AVOID",
                "reason": format!(r#"In {sessions} sessions the one failed and the other worked: "Missing script: "test""."#)})
        });
        assert_eq!(curated(&facts), Vec::from_iter(added));
    }

    #[rstest]
    #[case::same("always answer in German!", 0)]
    #[case::nearly("Always answer us in German", 0)]
    #[case::opposite("Never answer in German", 1)]
    #[case::other("Always answer in one line", 1)]
    #[case::other_number("Always use at most 3 columns", 1)]
    #[case::other_way_round("Always use spaces, not tabs", 1)]
    fn what_the_playbook_says_is_not_added(#[case] said: &str, #[case] added: usize) {
        assert_eq!(curated(&told(said)).len(), added);
    }

    #[test]
    fn an_answer_keeps_its_limits() {
        let mut facts = told("always use pnpm");
        facts.said.extend((0..30).map(|n| Said {
            kind: SaidKind::StandingInstruction,
            text: format!("always run check{n} before job{n} in stage{n}"),
        }));
        facts.first_request = Some("word ".repeat(400));
        facts.outcome = Outcome::Partial;
        facts.category = Some(ErrorCategory::NotFound);
        assert_eq!(curated(&facts).len(), MAX_OPERATIONS);
        let limits = SummaryLimits {
            summary_tokens: 12,
            topk_snippets: 3,
        };
        let (short, _) = Reflection::parse(&reflect(&facts, &playbook(), limits)).unwrap();
        assert_eq!(short.analysis.split_whitespace().count(), 12);
        let limits = SummaryLimits {
            summary_tokens: 500,
            topk_snippets: 1,
        };
        let (quoting, _) = Reflection::parse(&reflect(&facts, &playbook(), limits)).unwrap();
        assert_eq!(quoting.analysis.matches("The user ").count(), 1);
    }

    #[test]
    fn the_same_session_gets_the_same_answers() {
        let mut facts = told("no, always use pnpm");
        facts.citations = vec![id("pat-002"), id("pat-001")];
        facts.user_turns = 2;
        facts.tool_calls = 1;
        insta::assert_snapshot!(reflect(&facts, &playbook(), SummaryLimits::default()), @r#"{"analysis":"Outcome: success. Seen: 2 requests, 1 tool call. Cited: pat-002 neutral, pat-001 neutral. The user instructed: \"no, always use pnpm\".","bullet_tags":[{"name":"pat-002","tag":"neutral","rationale":"Cited; nothing shows what came of it."},{"name":"pat-001","tag":"neutral","rationale":"Cited; nothing shows what came of it."}]}"#);
        insta::assert_snapshot!(curate(&facts, &playbook()), @r#"{"reasoning":"New: 1, said by the user or shown by commands.","operations":[{"type":"ADD","text":"Always use pnpm","section":"USER PREFERENCES","reason":"The user said: \"no, always use pnpm\"."}]}"#);
    }
}
