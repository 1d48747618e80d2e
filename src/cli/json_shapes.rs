//! The shape of what each reading command prints with `--json`; a test compares them with
//! what is really printed.

/// Command lines, and the shape of their object.
pub(super) const SHAPES: &[(&str, &str)] = &[
    (
        "playbook status --json",
        r#"
{"project": "text", "playbook": "text", "key_points": "number",
 "sections": [{"section": "text", "key_points": "number", "helpful": "number",
               "harmful": "number"}],
 "last": "any",
 "jobs": {"ready": "number", "waiting": "number", "failed": "number", "elsewhere": "number"},
 "today": {"project": {"calls": "number", "tokens_in": "number", "tokens_out": "number"},
           "all_projects": {"calls": "number", "tokens_in": "number", "tokens_out": "number"},
           "calls_per_day": "number?", "tokens_per_day": "number?"},
 "held": "number", "problems": ["text"], "next": [{"command": "text", "why": "text"}]}"#,
    ),
    (
        "playbook report --json",
        r#"
{"project": "text", "made": "text",
 "points": [{"name": "text", "section": "text", "text": "text", "helpful": "number",
             "harmful": "number", "pinned": "bool", "stale": "bool", "last": "text?",
             "history": [{"time": "text", "helpful": "number", "harmful": "number"}]}],
 "days": [{"date": "text", "sessions": {"success": "number", "partial": "number",
           "failure": "number", "timeout": "number", "error": "number",
           "unjudged": "number"}}],
 "sessions": {"success": "number", "partial": "number", "failure": "number",
              "timeout": "number", "error": "number", "unjudged": "number"},
 "errors": [{"id": "text", "tool": "text", "text": "text", "times": "number",
             "last": "text", "fixes": [{"text": "text", "effectiveness": "number"}]}],
 "weeks": [{"from": "text", "sessions": "number", "correctness": "number",
            "helpfulness": "number", "safety": "number", "completeness": "number",
            "efficiency": "number"}],
 "cost": {"days": [{"date": "text", "calls": "number", "tokens_in": "number",
                    "tokens_out": "number"}],
          "models": [{"backend": "text", "model": "text", "calls": "number",
                      "tokens_in": "number", "tokens_out": "number"}]},
 "problems": ["text"]}"#,
    ),
    (
        "playbook bootstrap --json",
        r#"
{"project": "text", "found": "number", "new": "number", "begun": "number",
 "too_little": "number", "open": "number", "unreadable": ["text"], "backend": "text",
 "estimate": {"calls": "number", "tokens": "number"},
 "started": "bool", "left": "number", "stopped": "bool",
 "done": [{"job": "text", "session": "text", "transcript": "text", "outcome": "text",
           "reason": "text", "changes": "number", "tokens": "number"}],
 "waiting": [{"job": "text", "reason": "text"}]}"#,
    ),
    (
        "playbook reflect FILE --json",
        r#"
{"applied": "bool", "backend": "text", "outcome": "text", "cited": ["text"],
 "evidence_tokens": "number", "analysis": "text",
 "bullet_tags": [{"name": "text", "tag": "text", "rationale": "text"}], "tags": ["text"],
 "changes": ["any"], "skipped": ["any"], "*": "any"}"#,
    ),
    (
        "playbook evidence FILE --json",
        r#"
{"facts": {"*": "any"}, "evidence": {"*": "any"}}"#,
    ),
    (
        "playbook show --json",
        r#"
{"project": "text", "playbook": "text",
 "points": [{"name": "text", "section": "text", "text": "text", "helpful": "number",
             "harmful": "number", "pinned": "bool", "stale": "bool"}]}"#,
    ),
    (
        "playbook log --json",
        r#"
{"project": "text",
 "jobs": [{"job": "text", "project": "text", "time": "text", "event": "text",
           "session": "text", "transcript": "text", "backend": "text", "outcome": "text",
           "reason": "text", "undone_by": "text?",
           "changes": [{"kind": "text", "point": "text", "before": "any", "after": "any",
                        "into": "text?", "reason": "text"}]}]}"#,
    ),
    (
        "playbook log ID --json",
        r#"
{"name": "text", "aliases": ["text"], "point": "any",
 "story": [{"kind": "text", "point": "text", "before": "any", "after": "any",
            "into": "text?", "reason": "text", "job": "text", "time": "text",
            "session": "text", "event": "text", "backend": "text"}]}"#,
    ),
    (
        "playbook restore --json",
        r#"
{"playbook": "text", "points": "number",
 "snapshots": [{"snapshot": "text", "time": "text?", "event": "text?", "session": "text?",
                "points": "number?"}]}"#,
    ),
    (
        "playbook dedup --json",
        r#"
{"applied": "bool", "threshold": "number",
 "groups": [{"survivor": "text", "joins": ["text"]}]}"#,
    ),
    (
        "playbook export --json",
        r#"
{"project": "text",
 "points": [{"name": "text", "section": "text", "text": "text", "helpful": "number",
             "harmful": "number", "pinned": "bool", "stale": "bool"}]}"#,
    ),
    (
        "playbook review --json",
        r#"
{"project": "text",
 "quarantine": [{"id": "number", "text": "text", "reasons": ["any"], "job": "text?",
                 "since": "text", "what": "any"}]}"#,
    ),
    (
        "playbook jobs --json",
        r#"
{"jobs": [{"id": "text", "state": "text", "event": "text?", "session": "text?",
           "project": "text?", "transcript": "text?", "at": "text?", "age_s": "number?",
           "tries": "number", "reason": "text?", "next": "text?"}],
 "strays": ["text"]}"#,
    ),
    (
        "playbook recall WORDS --json",
        r#"
{"query": "text", "project": "text?",
 "memories": [{"id": "text", "kind": "text", "text": "text", "score": "number?",
               "importance": "number", "confidence": "number", "effectiveness": "number",
               "occurrences": "number", "times_applied": "number", "tags": ["text"],
               "outcome": "text?", "category": "text?", "signature": "text?",
               "project": "text", "tenant": "text", "session": "text", "job": "text",
               "created": "text", "last_seen": "text", "*": "any"}]}"#,
    ),
    (
        "playbook seen ERROR --json",
        r#"
{"seen": "bool", "project": "text?", "signatures": ["text"], "occurrences": "number",
 "first": "text?", "last": "text?", "fixes": ["any"], "errors": ["any"],
 "lessons": ["any"]}"#,
    ),
    (
        "playbook stats --json",
        r#"
{"project": "text?", "reflections": "number", "total_reflections": "number",
 "strategies": "number", "lessons_stored": "number", "bank_capacity": "number?",
 "average_lesson_effectiveness": "number?", "errors": "number",
 "error_occurrences": "number", "errors_fixed": "number", "fixes": "number",
 "average_fix_effectiveness": "number?", "shown": "number",
 "evaluations": [{"from": "text", "sessions": "number", "correctness": "number",
                  "helpfulness": "number", "safety": "number", "completeness": "number",
                  "efficiency": "number"}]}"#,
    ),
    (
        "playbook config list --json",
        r#"
{"settings": [{"key": "text", "value": "any", "default": "any", "set_in": "text?",
               "values": "text", "doc": "text"}]}"#,
    ),
    (
        "playbook config get KEY --json",
        r#"
{"key": "text", "value": "any", "default": "any", "set_in": "text?", "values": "text",
 "doc": "text"}"#,
    ),
    (
        "playbook config path --json",
        r#"
{"user": "text", "project": "text"}"#,
    ),
    (
        "playbook config check --json",
        r#"
{"ok": "bool", "problems": ["any"]}"#,
    ),
    (
        "playbook cost --json",
        r#"
{"day_began": "text", "day_ends": "text",
 "limits": {"calls_per_day": "number?", "tokens_per_day": "number?"},
 "today": {"calls": "number", "tokens_in": "number", "tokens_out": "number"},
 "days_7": {"calls": "number", "tokens_in": "number", "tokens_out": "number"},
 "days_30": {"calls": "number", "tokens_in": "number", "tokens_out": "number"},
 "projects": [{"project": "text", "backend": "text", "model": "text", "today": "any",
               "days_7": "any", "days_30": "any"}]}"#,
    ),
    (
        "playbook doctor --json",
        r#"
{"ok": "bool", "backend": "text", "why": "text", "pays": "text", "base_url": "text?",
 "models": {"reflector": "text?", "curator": "text?"}, "enabled": "bool", "off_by": "text?",
 "project": "text", "config": "text", "state": "text", "problems": ["any"],
 "checks": [{"topic": "text", "state": "text", "text": "text", "do": "text?"}]}"#,
    ),
];
