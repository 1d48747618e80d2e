//! Writes memories.

use deadpool_postgres::Transaction;
use playbook::memory::Taught;
use playbook::reflect::learned::{BIRTH, Learned, LearnedFrom, moved};
use playbook::reflect::remembered::Remembered;
use playbook::sharing::record;
use serde_json::Value;

use super::search;

/// Has the writers of a tenant take turns, so that none waits for another's rows forever.
const LOCK: &str = "SELECT pg_advisory_xact_lock(70234, hashtext(current_user))";
/// The machine for which the server counts.
const SERVER: &str = "server";

/// Makes memories what they are on a machine, without committing.
pub(crate) async fn put(
    transaction: &Transaction<'_>,
    machine: &str,
    records: Vec<Value>,
) -> anyhow::Result<()> {
    transaction.batch_execute(LOCK).await?;
    let put = transaction.prepare_cached("SELECT playbook.put($1, $2)");
    let records = Value::Array(records);
    transaction
        .execute(&put.await?, &[&records, &machine])
        .await?;
    Ok(())
}

/// Adds what a request to the server taught, without committing. Returns the ids of all memories.
pub(crate) async fn learn(
    transaction: &Transaction<'_>,
    source: &LearnedFrom,
    learned: &[Learned],
) -> anyhow::Result<Vec<String>> {
    let mut ids = Vec::new();
    for item in learned {
        let mut all = Taught::of(source, item);
        let mut effect = None;
        if let Learned::Shown(shown) = item {
            effect = Some(shown.effect);
            let known = search::find(transaction, &shown.id).await?;
            all.extend(known.map(|memory| {
                Taught::from(Remembered {
                    occurrences: 0,
                    last_seen: source.time,
                    ..memory
                })
            }));
        }
        for mut taught in all {
            let memory = &mut taught.memory;
            count_so_far(transaction, memory).await?;
            if let Some(effect) = effect {
                memory.times_applied += 1;
                memory.effectiveness = moved(memory.effectiveness, effect);
            }
            let record = record(memory, &taught.keys);
            put(transaction, SERVER, vec![record]).await?;
            ids.push(taught.memory.id);
        }
    }
    Ok(ids)
}

/// Adds to a memory what the server has counted for it already.
async fn count_so_far(
    transaction: &Transaction<'_>,
    memory: &mut Remembered,
) -> anyhow::Result<()> {
    transaction.batch_execute(LOCK).await?;
    let sql = "SELECT occurrences, times_applied, effectiveness FROM playbook.counts
         WHERE tenant = current_user AND key = $1 AND machine = $2";
    let found = transaction.query_opt(sql, &[&memory.id, &SERVER]).await?;
    let Some(row) = found else {
        (memory.times_applied, memory.effectiveness) = (0, BIRTH);
        return Ok(());
    };
    memory.occurrences += search::counted(&row, 0)?;
    memory.times_applied = search::counted(&row, 1)?;
    memory.effectiveness = row.try_get(2)?;
    Ok(())
}
