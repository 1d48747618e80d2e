//! Appends to the log, and updates the memories that result from it.

use std::time::SystemTime;

use playbook::memory::MemoryRow;
use playbook::reflect::learned::{BIRTH, EffectWhenShown, Learned, SharedRecord, moved};
use serde_json::json;
use tokio_postgres::Transaction;

/// Makes rows visible in the order of their positions, so that no reader misses one.
const LOCK: &str = "SELECT pg_advisory_xact_lock(70234, hashtext(current_user))";

/// The number of characters of searchable words that are kept in addition to the text.
const LONGEST: usize = 2000;

type Author<'a> = (&'a str, &'a str);

/// Appends records that are not in the log yet, without committing. Returns the number of new ones.
pub(crate) async fn append(
    transaction: &Transaction<'_>,
    author: Author<'_>,
    records: &[SharedRecord],
) -> anyhow::Result<u64> {
    transaction.batch_execute(LOCK).await?;
    let insert = transaction
        .prepare(
            "INSERT INTO playbook.log (origin, job, seq, record) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tenant, job, seq) DO NOTHING",
        )
        .await?;
    let mut new = 0;
    for record in records {
        let seq = i64::try_from(record.seq)?;
        let stored = json!(record);
        let added = transaction
            .execute(&insert, &[&author.0, &record.job, &seq, &stored])
            .await?;
        if added > 0 {
            count(transaction, author, record).await?;
            new += 1;
        }
    }
    Ok(new)
}

async fn count(
    transaction: &Transaction<'_>,
    author: Author<'_>,
    record: &SharedRecord,
) -> anyhow::Result<()> {
    match &record.what {
        None => forget(transaction, author.0, &record.ids).await,
        Some(Learned::Shown(shown)) => note(transaction, shown, record).await,
        Some(item) => {
            for row in MemoryRow::of(&record.project, item, &record.ids) {
                put(transaction, author, record, row).await?;
            }
            Ok(())
        }
    }
}

async fn forget(transaction: &Transaction<'_>, origin: &str, ids: &[String]) -> anyhow::Result<()> {
    let memories = "DELETE FROM playbook.memories WHERE key = ANY ($1) AND origin = $2";
    transaction.execute(memories, &[&ids, &origin]).await?;
    Ok(())
}

async fn note(
    transaction: &Transaction<'_>,
    shown: &EffectWhenShown,
    record: &SharedRecord,
) -> anyhow::Result<()> {
    let known = "SELECT effectiveness FROM playbook.memories WHERE key = $1 FOR UPDATE";
    let Some(row) = transaction.query_opt(known, &[&shown.id]).await? else {
        return Ok(());
    };
    let effectiveness = moved(row.try_get(0)?, shown.effect);
    let noted = "UPDATE playbook.memories SET times_applied = times_applied + 1,
             effectiveness = $2, last_seen = greatest(last_seen, least($3, now())) WHERE key = $1";
    let time = SystemTime::from(record.time);
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
        [&shown.id, &effectiveness, &time];
    transaction.execute(noted, &params).await?;
    Ok(())
}

async fn put(
    transaction: &Transaction<'_>,
    author: Author<'_>,
    record: &SharedRecord,
    row: MemoryRow,
) -> anyhow::Result<()> {
    let sql = transaction
        .prepare(
            "INSERT INTO playbook.memories AS m (key, kind, project, origin, session, job, text,
                 words, outcome, category, signature, importance, confidence, effectiveness,
                 occurrences, times_applied, tags, detail, created, last_seen)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, $16, $17,
                 least($18, now()), least($18, now()))
             ON CONFLICT (tenant, key) DO UPDATE SET
                 occurrences = m.occurrences + excluded.occurrences,
                 importance = greatest(m.importance, excluded.importance),
                 confidence = excluded.confidence,
                 signature = coalesce(m.signature, excluded.signature),
                 outcome = coalesce(excluded.outcome, m.outcome),
                 category = coalesce(excluded.category, m.category),
                 last_seen = greatest(m.last_seen, excluded.last_seen)",
        )
        .await?;
    let time = SystemTime::from(record.time);
    let signature = row
        .signature
        .map(|signature| signature.to_bits().cast_signed());
    let (kind, times) = (row.kind.word(), i64::try_from(row.times)?);
    let detail = json!(row.detail);
    let mut words: String = row.words.trim().chars().take(LONGEST).collect();
    for more in &row.tags {
        words.push(' ');
        words.push_str(more);
    }
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 18] = [
        &row.id,
        &kind,
        &record.project,
        &author.0,
        &author.1,
        &record.job,
        &row.text,
        &words,
        &row.outcome,
        &row.category,
        &signature,
        &row.importance,
        &row.confidence,
        &BIRTH,
        &times,
        &row.tags,
        &detail,
        &time,
    ];
    transaction.execute(&sql, &params).await?;
    let keys: Vec<i64> = row
        .keys
        .iter()
        .map(|key| key.to_bits().cast_signed())
        .collect();
    if !keys.is_empty() {
        let sql = "INSERT INTO playbook.error_keys (hash, key) SELECT unnest($1::bigint[]), $2
             ON CONFLICT DO NOTHING";
        transaction.execute(sql, &[&keys, &row.id]).await?;
    }
    Ok(())
}
