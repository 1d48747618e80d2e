//! Searches the memories of one tenant.

use std::collections::HashMap;
use std::time::SystemTime;

use anyhow::Context as _;
use deadpool_postgres::GenericClient;
use playbook::errors::Signature;
use playbook::memory::{Answer, LearnedStats, Question, RecallQuery, words_of};
use playbook::reflect::remembered::{MemoryKind, Remembered};
use playbook::reflect::tellable::Outlet;
use serde_json::{Value, json};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// The number of memories with the words that are ranked.
const CANDIDATES: u64 = 1_000;
/// The weights of importance, confidence, effectiveness and age, as in `playbook recall`.
const WEIGHT: &str = "(0.5 + 0.5 * m.importance)
     * (0.5 + 0.5 * (m.memory ->> 'confidence')::float8) * (0.5 + m.effectiveness)
     * (0.5 + 0.5 * 90 / (90 + greatest(extract(epoch FROM now() - m.last_seen) / 86400, 0)))";
const MEMORY: &str = "m.memory || jsonb_build_object('occurrences', m.occurrences,
     'times_applied', m.times_applied, 'effectiveness', m.effectiveness, 'last_seen', m.last_seen)";

pub(crate) async fn ask(
    client: &impl GenericClient,
    question: &Question,
) -> anyhow::Result<Answer> {
    let mut answer = Answer::default();
    match question {
        Question::Recall(query) => answer.memories = recall(client, query).await?,
        Question::Seen { keys, project } => {
            answer.errors = about(client, keys, project.as_deref()).await?;
        }
        Question::Stats { project } => answer.stats = stats(client, project.as_deref()).await?,
    }
    Ok(answer)
}

/// Finds the memory of an id, else the best matches, best first: memories with all of the words,
/// else with some.
async fn recall(
    client: &impl GenericClient,
    query: &RecallQuery,
) -> anyhow::Result<Vec<Remembered>> {
    let Some(text) = &query.text else {
        return select(client, query, None).await;
    };
    if let Some(named) = find(client, text.trim()).await? {
        return Ok(vec![named]);
    }
    let words = words_of(text).into_iter();
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let all = select(client, query, Some((&words, " & "))).await?;
    if all.len() as u64 >= query.limit || words.len() == 1 {
        return Ok(all);
    }
    select(client, query, Some((&words, " | "))).await
}

async fn select(
    client: &impl GenericClient,
    query: &RecallQuery,
    words: Option<(&[String], &str)>,
) -> anyhow::Result<Vec<Remembered>> {
    let kinds: Vec<&str> = query.kinds.iter().map(|kind| kind.word()).collect();
    let tags = query.tags.iter().map(|tag| tag.trim().to_lowercase());
    let tags = json!(tags.collect::<Vec<_>>());
    let since = query.since.map(SystemTime::from);
    let until = query.until.map(SystemTime::from);
    let limit = i64::try_from(query.limit)?;
    let candidates = i64::try_from(query.limit.max(CANDIDATES))?;
    let wanted = words.map(|(words, operator)| words.join(operator));
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![
        &query.project,
        &kinds,
        &query.min_importance,
        &query.outcome,
        &since,
        &until,
        &tags,
        &limit,
        &candidates,
    ];
    params.extend(wanted.as_ref().map(|wanted| wanted as &(dyn ToSql + Sync)));
    let (fit, candidates) = match wanted {
        Some(_) => ("f.fit", BY_WORDS),
        None => ("1.0", BY_IMPORTANCE),
    };
    let sql = format!(
        "SELECT {MEMORY} || jsonb_build_object('score', s.score)
         FROM {candidates} CROSS JOIN LATERAL (SELECT ({fit} * {WEIGHT})::float8 AS score) s
         WHERE m.tenant = current_user AND ($1::text IS NULL OR m.project = $1)
             AND (cardinality($2::text[]) = 0 OR m.kind = ANY ($2::text[]))
             AND m.importance >= $3 AND ($4::text IS NULL OR m.memory ->> 'outcome' = $4)
             AND ($5::timestamptz IS NULL OR m.last_seen >= $5)
             AND ($6::timestamptz IS NULL OR m.last_seen <= $6)
             AND m.memory -> 'tags' @> $7::jsonb
         ORDER BY s.score DESC, m.last_seen DESC, m.key LIMIT $8"
    );
    remembered(client, &sql, &params).await
}

/// Each error comes with its keys.
async fn about(
    client: &impl GenericClient,
    keys: &[Signature],
    project: Option<&str>,
) -> anyhow::Result<Vec<(Remembered, Vec<Signature>)>> {
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let sql = format!(
        "SELECT {MEMORY} FROM playbook.memories m
         WHERE m.tenant = current_user AND m.signature = ANY ($1 || ARRAY(
                 SELECT e.signature FROM playbook.error_keys k
                 JOIN playbook.memories e ON e.tenant = current_user AND e.key = k.key
                 WHERE k.tenant = current_user AND k.hash = ANY ($1)))
             AND ($2::text IS NULL OR m.project = $2)
         ORDER BY m.importance DESC, m.last_seen DESC, m.key LIMIT 1000"
    );
    let found = remembered(client, &sql, &[&keys, &project]).await?;
    let ids: Vec<&str> = found.iter().map(|memory| memory.id.as_str()).collect();
    let sql = "SELECT key, hash FROM playbook.error_keys
         WHERE tenant = current_user AND key = ANY ($1)";
    let mut keys: HashMap<String, Vec<Signature>> = HashMap::new();
    for row in client.query(sql, &[&ids]).await? {
        let own = keys.entry(row.try_get(0)?).or_default();
        own.extend(Signature::parse(row.try_get(1)?));
    }
    let with_keys = |memory: Remembered| {
        let keys = keys.remove(&memory.id).unwrap_or_default();
        (memory, keys)
    };
    Ok(found.into_iter().map(with_keys).collect())
}

pub(crate) async fn find(
    client: &impl GenericClient,
    id: &str,
) -> anyhow::Result<Option<Remembered>> {
    let sql = format!(
        "SELECT {MEMORY} FROM playbook.memories m WHERE m.tenant = current_user AND m.key = $1"
    );
    Ok(remembered(client, &sql, &[&id]).await?.pop())
}

async fn stats(client: &impl GenericClient, project: Option<&str>) -> anyhow::Result<LearnedStats> {
    let sql = "SELECT kind, count(*), sum(occurrences)::bigint, avg(effectiveness),
             sum(times_applied)::bigint
         FROM playbook.memories WHERE tenant = current_user AND ($1::text IS NULL OR project = $1)
         GROUP BY kind";
    let mut stats = LearnedStats::default();
    for row in client.query(sql, &[&project]).await? {
        let kind = MemoryKind::from_word(row.try_get(0)?).context("an unknown kind of memory")?;
        let counts = [counted(&row, 1)?, counted(&row, 2)?, counted(&row, 4)?];
        stats.count(kind, counts, row.try_get(3)?);
    }
    Ok(stats)
}

/// The memories with the words of a query, at most as many as there are candidates.
const BY_WORDS: &str = "playbook.found(
         to_tsquery('english', $10)
             && CASE WHEN $1::text IS NULL THEN ''::tsquery
                ELSE quote_literal('p' || md5($1::text))::tsquery END
             && CASE WHEN cardinality($2::text[]) = 0 THEN ''::tsquery
                ELSE (SELECT string_agg(quote_literal('k' || kind), '|')
                      FROM unnest($2::text[]) kind)::tsquery END,
         CASE WHEN numnode(to_tsquery('english', $10)) = 0 THEN 0 ELSE $9::bigint::integer END) f
     JOIN playbook.memories m ON m.tenant = current_user AND m.key = f.key";
/// The most important memories, at most as many.
const BY_IMPORTANCE: &str = "(SELECT * FROM playbook.memories m
     WHERE m.tenant = current_user AND ($1::text IS NULL OR m.project = $1)
         AND (cardinality($2::text[]) = 0 OR m.kind = ANY ($2::text[]))
         AND m.memory -> 'tags' @> $7::jsonb
     ORDER BY m.importance DESC LIMIT $9::bigint) m";

async fn remembered(
    client: &impl GenericClient,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> anyhow::Result<Vec<Remembered>> {
    let sql = client.prepare_cached(sql).await?;
    let rows = client.query(&sql, params).await?;
    let outlet = Outlet::default();
    let shown = |row: &Row| {
        let mut memory: Remembered = serde_json::from_value(row.try_get::<_, Value>(0)?)?;
        outlet.memory(&mut memory);
        Ok(memory)
    };
    rows.iter().map(shown).collect()
}

pub(crate) fn counted(row: &Row, column: usize) -> anyhow::Result<u64> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or(0))
}
