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
use crate::transcript::{CitationUse, Facts, FollowUp, Replacement, SaidKind, Stance, UserRemark};

/// Characters of a quotation, at most.
const MAX_QUOTE: usize = 160;
/// How similar what was said is to what the playbook says already, when it is not added.
const SAID_BEFORE: f64 = 0.6;
/// In so many sessions a command was replaced before that is learned.
const SESSIONS: u64 = 2;
/// How much the analysis says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryLimits {
    /// Words (by white space) of the analysis.
    pub summary_tokens: usize,
    pub topk_snippets: usize,
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
            .map(|category| category.word().to_owned())
            .into_iter()
            .collect(),
        ..Reflection::default()
    };
    json!(reflection).to_string()
}

/// Returns the curator's answer.
pub fn curate(facts: &Facts, playbook: &Playbook) -> String {
    let operations = lessons(facts, playbook);
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
    let uses = facts.uses.iter().filter(|cited| cited.id == *id).rev();
    let weightiest = uses.max_by_key(|cited| match tag_of(cited) {
        Tag::Neutral => 0,
        Tag::Helpful => 1,
        Tag::Harmful => 2,
    });
    let unknown = || "Cited; nothing shows what came of it.".to_owned();
    BulletTag {
        name: id.to_string(),
        tag: weightiest.map_or(Tag::Neutral, tag_of),
        rationale: weightiest.map_or_else(unknown, rationale),
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
        .map(|c| format!(" ({})", c.word()))
        .unwrap_or_default();
    let mut parts = vec![format!("Outcome: {}{category}.", facts.outcome.word())];
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

/// The operations that add what the session teaches and the playbook does not say yet.
fn lessons(facts: &Facts, playbook: &Playbook) -> Vec<Value> {
    let quoted = |text: &str| quote(text).unwrap_or_default();
    let of_user = |said: &&UserRemark| said.kind == SaidKind::StandingInstruction;
    let instructions = facts.said.iter().filter(of_user).filter_map(|said| {
        let reason = format!("The user said: {}.", quoted(&said.text));
        Some((Section::Preferences, standing::rule(&said.text)?, reason))
    });
    let recurs = |replaced: &&Replacement| replaced.sessions >= SESSIONS;
    let commands = facts.replacements.iter().filter(recurs).map(|replaced| {
        let Replacement {
            failed,
            worked,
            error,
            sessions,
        } = replaced;
        let error = quoted(error);
        let reason =
            format!("In {sessions} sessions the one failed and the other worked: {error}.");
        let text = format!("`{failed}` fails here; use `{worked}` instead");
        (Section::Mistakes, text, reason)
    });
    let threshold = Threshold::new(SAID_BEFORE);
    let mut known: Vec<Wording> = playbook
        .points()
        .map(|point| Wording::of(point.text))
        .collect();
    let new = instructions
        .chain(commands)
        .filter_map(|(section, text, reason)| {
            let text = clean_text(&text);
            let wording = Wording::of(&text);
            if text.is_empty() || known.iter().any(|other| wording.says_as(other, threshold)) {
                return None;
            }
            known.push(wording);
            Some(json!({"type": "ADD", "text": text, "section": section.title(), "reason": reason}))
        });
    new.take(MAX_OPERATIONS).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::reflect::reply::Reply as _;
    use crate::transcript::{ErrorCategory, SessionOutcome};

    fn id(text: &str) -> Id {
        Id::parse(text).unwrap()
    }

    fn playbook() -> Playbook {
        let json = json!({"version": "1.0", "last_updated": null, "sections": {
            "PATTERNS & APPROACHES": [
                {"name": "pat-001", "text": "use type hints", "helpful": 3, "harmful": 0},
                {"name": "pat-002", "text": "write tests first", "helpful": 0, "harmful": 0}],
            "USER PREFERENCES": [
                {"name": "pref-001", "text": "Always answer in German", "helpful": 0, "harmful": 0}]}});
        Playbook::parse(json.to_string().as_bytes()).unwrap()
    }

    /// A session that cites a point, once for each of what followed.
    fn cited(followed: &[FollowUp]) -> Facts {
        let cited = |followed_by: &FollowUp| CitationUse {
            id: id("pat-001"),
            quote: "As [pat-001] says, I add types.".to_owned(),
            stance: Stance::Takes,
            followed_by: followed_by.clone(),
        };
        Facts {
            citations: vec![id("pat-001")],
            uses: followed.iter().map(cited).collect(),
            ..Facts::default()
        }
    }

    fn told(text: &str) -> Facts {
        let said = UserRemark {
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
    #[case::tool_error(&[FollowUp::ToolError { tool: "Bash".into(), message: "Exit code 1".into() }], Tag::Neutral, "Bash failed: \"Exit code 1\"")]
    #[case::harm_outweighs(&[FollowUp::Clean, FollowUp::Rejected { words: "no".into() }, FollowUp::Clean], Tag::Harmful, "says, I add types.")]
    #[case::help_outweighs_no_evidence(&[FollowUp::Interrupted, FollowUp::Clean], Tag::Helpful, "says, I add types.")]
    #[case::no_use_known(&[], Tag::Neutral, "nothing shows")]
    fn the_weightiest_of_what_followed_a_citation_decides_its_tag(
        #[case] followed: &[FollowUp],
        #[case] tag: Tag,
        #[case] why: &str,
    ) {
        let tags = reflected(&cited(followed)).bullet_tags;
        assert_eq!(tags.len(), 1);
        assert_eq!((tags[0].name.as_str(), tags[0].tag), ("pat-001", tag));
        assert!(tags[0].rationale.contains(why), "{}", tags[0].rationale);
    }

    /// SCN-REFL-003-03, SCN-REFL-003-02: no key points, or none cited: no tags, an analysis.
    #[rstest]
    #[case::no_key_points(Playbook::empty(), cited(&[FollowUp::Clean]))]
    #[case::none_cited(playbook(), Facts::default())]
    fn there_is_an_analysis_and_no_tag(#[case] playbook: Playbook, #[case] facts: Facts) {
        let answer = reflect(&facts, &playbook, SummaryLimits::default());
        let (reflection, _) = Reflection::parse(&answer).unwrap();
        assert!(reflection.bullet_tags.is_empty() && !reflection.analysis.is_empty());
    }

    #[rstest]
    #[case::seen_twice(2, 1)]
    #[case::seen_once(1, 0)]
    fn a_command_that_was_replaced_twice_is_added_once(
        #[case] sessions: u64,
        #[case] added: usize,
    ) {
        let replaced = Replacement {
            failed: "npm test".to_owned(),
            worked: "pnpm test".to_owned(),
            error: "Missing script: \"test\"".to_owned(),
            sessions,
        };
        let facts = Facts {
            replacements: vec![replaced.clone(), replaced],
            ..Facts::default()
        };
        let want = json!({"type": "ADD", "text": "`npm test` fails here; use `pnpm test` instead", "section": "MISTAKES TO AVOID",
            "reason": r#"In 2 sessions the one failed and the other worked: "Missing script: "test""."#});
        assert_eq!(curated(&facts), vec![want; added]);
    }

    #[rstest]
    #[case::same("always answer in German!", 0)]
    #[case::nearly("Always answer us in German", 0)]
    #[case::opposite("Never answer in German", 1)]
    fn what_the_playbook_says_is_not_added(#[case] said: &str, #[case] added: usize) {
        assert_eq!(curated(&told(said)).len(), added);
    }

    #[test]
    fn an_answer_keeps_its_limits() {
        let mut facts = told("always use pnpm");
        facts.said.extend((0..30).map(|n| UserRemark {
            kind: SaidKind::StandingInstruction,
            text: format!("always run check{n} before job{n} in stage{n}"),
        }));
        facts.first_request = Some("word ".repeat(400));
        facts.outcome = SessionOutcome::Partial;
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
