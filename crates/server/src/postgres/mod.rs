//! The store in `PostgreSQL`.

mod connect;
mod put;
pub(crate) mod roles;
pub(crate) mod search;

use anyhow::{Context as _, bail};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Client;

pub(crate) use connect::{Address, connect, pool};
pub(crate) use put::{learn, put};

use self::roles::TenantName;

const VERSION: i32 = 2;

const THERE: &str = "SELECT to_regclass('playbook.version') IS NOT NULL";

/// Returns an error unless the tables have our version.
pub(crate) async fn version(client: &Client) -> anyhow::Result<()> {
    if !client.query_one(THERE, &[]).await?.try_get::<_, bool>(0)? {
        bail!("the database has no tables of Playbook; hint: `playbook server init`");
    }
    let found = client.query_one("SELECT number FROM playbook.version", &[]);
    let found = found
        .await
        .context("could not read the version of the tables")?;
    match found.try_get(0)? {
        VERSION => Ok(()),
        other => bail!(
            "could not use the database: its tables are of version {other}, this program knows \
             {VERSION}; nothing was written"
        ),
    }
}

/// Begins a transaction that sees only the rows of a tenant: a named one, or the connected role.
pub(crate) async fn begin<'c>(
    client: &'c mut Object,
    tenant: Option<&TenantName>,
) -> anyhow::Result<Transaction<'c>> {
    let transaction = client.transaction().await?;
    if let Some(tenant) = tenant {
        let role = format!("SET LOCAL ROLE \"{}\"", tenant.role());
        transaction.batch_execute(&role).await?;
    }
    // Every query can use an index. The planner does not know how few rows the word search returns,
    // and would rather read the whole table.
    let plans = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
         SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";
    transaction.batch_execute(plans).await?;
    Ok(transaction)
}
