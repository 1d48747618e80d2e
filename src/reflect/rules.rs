//! Judges a session without a model: no network, the same answer every time.
//!
//! | what the session shows | what follows |
//! |---|---|
//! | a cited point, then the user rejected a call or corrected the work | harmful |
//! | a cited point, and its turn went on without an error, a rejection, a correction | helpful |
//! | a cited point, then a tool error or an interrupt | neutral |
//! | a point that was not cited | no tag |
//! | a correction, a refusal with words, a standing instruction that holds for every session | ADD to USER PREFERENCES |
//! | a failed command and the other command that worked | ADD to MISTAKES TO AVOID |
//! | a fact the user stated twice, or asked to remember | ADD to PROJECT CONTEXT |
//!
//! A point cited more than once gets the verdict of its weightiest use: harmful before
//! helpful before neutral. Neutral is the lack of evidence, so any evidence outweighs it;
//! and of two verdicts harm counts, because a wrong point costs more than a missed credit.
//!
//! Which sentences qualify stands in `rules_speech`. Both
//! answers are JSON texts of the form a model gives, and go the same way.

use serde_json::{Value, json};

use super::reply::{Curation, Reflection};
use super::rules_speech;
use crate::playbook::clean::clean_text;
use crate::playbook::dedup::{Threshold, Wording};
use crate::playbook::ops::MAX_OPERATIONS;
use crate::playbook::tags::{BulletTag, Tag};
use crate::playbook::{Id, Playbook, Section};
use crate::transcript::{CitationUse, Facts, FollowUp, Replacement, SaidKind};

/// Characters of a quotation, at most.
const MAX_QUOTE: usize = 160;
/// How similar what was said is to what the playbook says already, when it is not added.
const SAID_BEFORE: f64 = 0.6;

/// How much the analysis says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryLimits {
    /// Words (by white space) of the analysis.
    pub summary_tokens: usize,
    /// Quotations in the analysis.
    pub topk_snippets: usize,
}

impl Default for SummaryLimits {
    /// The defaults of the rule-based reflection.
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
    let lessons = lessons(facts, playbook);
    let reflection = Reflection {
        analysis: summary(facts, &bullet_tags, limits),
        bullet_tags,
        strategy: lessons.first().map(|lesson| lesson.text.clone()),
        tags: facts
            .category
            .map(|category| category.name().to_owned())
            .into_iter()
            .collect(),
        ..Reflection::default()
    };
    to_json(&json!(reflection))
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
    to_json(&json!(Curation {
        reasoning: reasoning(&lessons),
        operations,
    }))
}

fn to_json(value: &Value) -> String {
    value.to_string()
}

/// The verdict of the weightiest use of a cited point; the first of equals.
fn verdict(id: &Id, facts: &Facts) -> BulletTag {
    let uses = facts.uses.iter().filter(|cited| cited.id == *id);
    let (tag, rationale) = uses
        .rev()
        .map(|cited| (tag_of(&cited.followed_by), cited))
        .max_by_key(|(tag, _)| weight(*tag))
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

fn tag_of(followed_by: &FollowUp) -> Tag {
    match followed_by {
        FollowUp::Clean => Tag::Helpful,
        FollowUp::Rejected { .. } | FollowUp::Corrected { .. } => Tag::Harmful,
        FollowUp::ToolError { .. } | FollowUp::Interrupted => Tag::Neutral,
    }
}

fn weight(tag: Tag) -> u8 {
    match tag {
        Tag::Neutral => 0,
        Tag::Helpful => 1,
        Tag::Harmful => 2,
    }
}

fn rationale(cited: &CitationUse) -> String {
    let place = match quote(&cited.quote) {
        Some(quote) => format!("Cited in {quote}"),
        None => "Cited".to_owned(),
    };
    match &cited.followed_by {
        FollowUp::Clean => format!("{place}; the turn went on without an error or an objection."),
        FollowUp::ToolError { tool, message } => {
            let why = quote(message)
                .map(|quote| format!(": {quote}"))
                .unwrap_or_default();
            format!("{place}; then {} failed{why}.", clean_text(tool))
        }
        FollowUp::Interrupted => format!("{place}; then the user interrupted, without a word why."),
        FollowUp::Rejected { words } => match quote(words) {
            Some(words) => format!("{place}; the user refused what followed: {words}."),
            None => format!("{place}; the user refused what followed."),
        },
        FollowUp::Corrected { words } => match quote(words) {
            Some(words) => format!("{place}; the user corrected what followed: {words}."),
            None => format!("{place}; the user corrected what followed."),
        },
    }
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
    let mut parts = vec![
        format!("Outcome: {}{category}.", facts.outcome.name()),
        format!("{}.", counts(facts).join(", ")),
    ];
    for (tag, word) in [
        (Tag::Helpful, "Helpful"),
        (Tag::Harmful, "Harmful"),
        (Tag::Neutral, "Neutral"),
    ] {
        let tagged = tags.iter().filter(|bullet| bullet.tag == tag);
        let names: Vec<&str> = tagged.map(|bullet| bullet.name.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{word}: {}.", names.join(", ")));
        }
    }
    let request = facts.first_request.as_deref().and_then(quote);
    parts.extend(request.map(|request| format!("Asked for: {request}.")));
    let snippets = snippets(facts).into_iter().take(limits.topk_snippets);
    parts.extend(snippets.map(|snippet| format!("{snippet}.")));
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
        (facts.corrections, "correction"),
        (facts.rejections, "refused call"),
        (facts.interrupts, "interrupt"),
    ];
    let shown = counts
        .iter()
        .enumerate()
        .filter(|(at, (count, _))| *at < 2 || *count > 0);
    shown
        .map(|(_, (count, what))| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
        .collect()
}

/// The telling quotations, the weightiest first.
fn snippets(facts: &Facts) -> Vec<String> {
    let said = |kind: SaidKind, what: &str| -> Vec<String> {
        let texts = facts.said.iter().filter(|said| said.kind == kind);
        texts
            .filter_map(|said| Some(format!("{what}: {}", quote(&said.text)?)))
            .collect()
    };
    let errors = facts
        .uses
        .iter()
        .filter_map(|cited| match &cited.followed_by {
            FollowUp::ToolError { tool, message } => {
                Some(format!("{} failed: {}", clean_text(tool), quote(message)?))
            }
            _ => None,
        });
    let mut all = said(SaidKind::Correction, "The user corrected");
    all.extend(said(SaidKind::RejectionWords, "The user refused"));
    all.extend(said(SaidKind::StandingInstruction, "The user instructed"));
    all.extend(errors);
    all
}

/// Something to add to the playbook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lesson {
    section: Section,
    text: String,
    /// What in the session says so.
    reason: String,
}

/// What the session teaches and the playbook does not say yet.
fn lessons(facts: &Facts, playbook: &Playbook) -> Vec<Lesson> {
    let spoken = facts.said.iter().flat_map(|said| {
        let rules = rules_speech::rules_in(said.kind, &said.text);
        rules.into_iter().map(move |rule| (said, rule))
    });
    let spoken = spoken.map(|(said, rule)| Lesson {
        section: rule.section,
        text: rule.text,
        reason: format!("The user said: {}.", quote(&said.text).unwrap_or_default()),
    });
    let commands = facts
        .replacements
        .iter()
        .map(|replacement: &Replacement| Lesson {
            section: Section::Mistakes,
            text: format!(
                "Use `{}` instead of `{}`",
                replacement.worked, replacement.failed
            ),
            reason: match quote(&replacement.error) {
                Some(error) => format!("The one failed, the other worked: {error}."),
                None => "The one failed, the other worked.".to_owned(),
            },
        });
    let threshold = Threshold::new(SAID_BEFORE);
    let mut known: Vec<Wording> = playbook
        .points()
        .map(|point| Wording::of(point.text))
        .collect();
    let mut lessons = Vec::new();
    for lesson in spoken.chain(commands) {
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

fn reasoning(lessons: &[Lesson]) -> String {
    let what = [
        (Section::Preferences, "said by the user"),
        (
            Section::Mistakes,
            "shown by a command that failed and one that worked",
        ),
        (Section::Context, "stated by the user as a fact"),
    ];
    let parts: Vec<String> = what
        .iter()
        .filter_map(|(section, what)| {
            let count = lessons
                .iter()
                .filter(|lesson| lesson.section == *section)
                .count();
            (count > 0).then(|| format!("{count} {what}"))
        })
        .collect();
    if parts.is_empty() {
        return "Nothing in this session is a rule for others.".to_owned();
    }
    format!("New: {}.", parts.join(", "))
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
                followed_by,
            }],
            ..Facts::default()
        }
    }

    fn told(kind: SaidKind, text: &str) -> Facts {
        let said = Said {
            kind,
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
    #[case::rejected_silently(FollowUp::Rejected { words: String::new() }, Tag::Harmful, "refused what followed.")]
    #[case::corrected(FollowUp::Corrected { words: "no, no types".into() }, Tag::Harmful, "corrected what followed: \"no, no types\"")]
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
    #[case::harm_outweighs(&[FollowUp::Clean, FollowUp::Corrected { words: "no".into() }, FollowUp::Clean], Tag::Harmful)]
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

    #[rstest]
    #[case::correction(
        SaidKind::Correction,
        "No, use pnpm instead of npm",
        "Use pnpm instead of npm",
        "USER PREFERENCES"
    )]
    #[case::rejection(
        SaidKind::RejectionWords,
        "never push to main",
        "Never push to main",
        "USER PREFERENCES"
    )]
    #[case::instruction(
        SaidKind::StandingInstruction,
        "from now on, sign every commit",
        "Sign every commit",
        "USER PREFERENCES"
    )]
    #[case::fact(
        SaidKind::Fact,
        "The staging database is read only",
        "The staging database is read only",
        "PROJECT CONTEXT"
    )]
    fn what_the_user_said_is_added(
        #[case] kind: SaidKind,
        #[case] said: &str,
        #[case] text: &str,
        #[case] section: &str,
    ) {
        let reason = format!("The user said: {}.", quote(said).unwrap());
        let added = json!({"type": "ADD", "text": text, "section": section, "reason": reason});
        assert_eq!(curated(&told(kind, said)), [added]);
    }

    #[test]
    fn a_failed_command_and_its_fix_are_added_once() {
        let replacement = Replacement {
            error: "Missing script: \"test\"".to_owned(),
            failed: "npm test".to_owned(),
            worked: "pnpm test".to_owned(),
            sessions: 2,
        };
        let facts = Facts {
            replacements: vec![replacement.clone(), replacement],
            ..Facts::default()
        };
        let text = "Use `pnpm test` instead of `npm test`";
        let reason = r#"The one failed, the other worked: "Missing script: "test""."#;
        let added =
            json!({"type": "ADD", "text": text, "section": "MISTAKES TO AVOID", "reason": reason});
        assert_eq!(curated(&facts), [added]);
        assert_eq!(reflected(&facts).strategy.as_deref(), Some(text));
    }

    #[rstest]
    #[case::same("always answer in German!", 0)]
    #[case::nearly("Always answer us in German", 0)]
    #[case::opposite("Never answer in German", 1)]
    #[case::other("Always answer in one line", 1)]
    #[case::other_number("Always use at most 3 columns", 1)]
    #[case::other_way_round("Always use spaces, not tabs", 1)]
    fn what_the_playbook_says_is_not_added(#[case] said: &str, #[case] added: usize) {
        assert_eq!(
            curated(&told(SaidKind::StandingInstruction, said)).len(),
            added
        );
    }

    #[test]
    fn a_session_that_teaches_nothing_says_so() {
        let (curation, _) = Curation::parse(&curate(&Facts::default(), &playbook())).unwrap();
        assert_eq!(curation.operations, Vec::<Value>::new());
        assert!(curation.reasoning.starts_with("Nothing"));
    }

    #[test]
    fn an_answer_keeps_its_limits() {
        let mut facts = told(SaidKind::Correction, "no, use pnpm");
        facts.said.extend((0..30).map(|n| Said {
            kind: SaidKind::StandingInstruction,
            text: format!("Always run check{n} before job{n} in stage{n}"),
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
        let limits = SummaryLimits {
            summary_tokens: 0,
            topk_snippets: 0,
        };
        let (none, _) = Reflection::parse(&reflect(&facts, &playbook(), limits)).unwrap();
        assert_eq!(none.analysis, "");
    }

    #[test]
    fn the_same_session_gets_the_same_answers() {
        let mut facts = told(SaidKind::Correction, "no, use pnpm");
        facts.citations = vec![id("pat-002"), id("pat-001")];
        facts.user_turns = 2;
        facts.tool_calls = 1;
        insta::assert_snapshot!(reflect(&facts, &playbook(), SummaryLimits::default()), @r#"{"analysis":"Outcome: success. 2 requests, 1 tool call. Neutral: pat-002, pat-001. The user corrected: \"no, use pnpm\".","bullet_tags":[{"name":"pat-002","tag":"neutral","rationale":"Cited; nothing shows what came of it."},{"name":"pat-001","tag":"neutral","rationale":"Cited; nothing shows what came of it."}],"strategy":"Use pnpm"}"#);
        insta::assert_snapshot!(curate(&facts, &playbook()), @r#"{"reasoning":"New: 1 said by the user.","operations":[{"type":"ADD","text":"Use pnpm","section":"USER PREFERENCES","reason":"The user said: \"no, use pnpm\"."}]}"#);
    }
}
