//! The shared store in `PostgreSQL`: the log that machines exchange, and the resulting memories.

mod append;
mod connect;
pub(crate) mod roles;
pub(crate) mod search;

use anyhow::{Context as _, bail};
use playbook::sharing::LogRow;
use tokio_postgres::Client;

pub(crate) use append::append;
pub(crate) use connect::{Address, connect, pool};

const VERSION: i32 = 1;

const THERE: &str = "SELECT to_regclass('playbook.version') IS NOT NULL";

/// Returns the name of the log, if its tables have our version.
pub(crate) async fn version(client: &Client) -> anyhow::Result<String> {
    if !client.query_one(THERE, &[]).await?.try_get::<_, bool>(0)? {
        bail!("the database has no tables of Playbook; hint: `playbook server init`");
    }
    let found = client.query_one("SELECT number, log FROM playbook.version", &[]);
    let found = found
        .await
        .context("could not read the version of the tables")?;
    match found.try_get(0)? {
        VERSION => Ok(found.try_get(1)?),
        other => bail!(
            "could not use the database: its tables are of version {other}, this program knows \
             {VERSION}; nothing was written"
        ),
    }
}

pub(crate) async fn after(
    client: &Client,
    position: u64,
    limit: i64,
) -> anyhow::Result<Vec<LogRow>> {
    let sql = "SELECT position, origin, record FROM playbook.log
         WHERE tenant = current_user AND position > $1 ORDER BY position LIMIT $2";
    let position = i64::try_from(position)?;
    let mut rows = Vec::new();
    for row in client.query(sql, &[&position, &limit]).await? {
        rows.push(LogRow {
            position: u64::try_from(row.try_get::<_, i64>(0)?)?,
            origin: row.try_get(1)?,
            record: row.try_get(2)?,
        });
    }
    Ok(rows)
}
