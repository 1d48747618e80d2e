//! The tables and roles, created once by the database's owner.

use anyhow::{Context as _, ensure};
use deadpool_postgres::Object;

use super::{THERE, version};

const TABLES: &str = include_str!("tables.sql");
const PREFIX: &str = "tenant_";
/// The role of `playbook server serve`, which may act as any tenant and as no other role.
pub(crate) const SERVER: &str = "playbook_server";
const LONGEST: usize = 40;

/// A name that is safe in a role's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TenantName(String);

impl TenantName {
    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        ensure!(
            (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain),
            "no name of a tenant: one has 1 to {LONGEST} of a-z, 0-9, `-` and `_`"
        );
        Ok(Self(name.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its role in the database, which needs no escaping in quotes.
    pub(crate) fn role(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

/// Creates tables and roles. Returns the password of the server's role if it is new.
pub(crate) async fn init(client: &mut Object) -> anyhow::Result<Option<String>> {
    let transaction = client.transaction().await?;
    // The second of two concurrent calls finds everything created.
    transaction
        .batch_execute("SELECT pg_advisory_xact_lock(70234, 0)")
        .await?;
    let are_there = transaction.query_one(THERE, &[]).await?;
    if !are_there.try_get::<_, bool>(0)? {
        let made = transaction.batch_execute(TABLES).await;
        made.context("could not make the tables")?;
    }
    let password = login_role(&transaction, SERVER, "NOINHERIT").await?;
    let may_look = format!(
        "GRANT USAGE ON SCHEMA playbook TO {SERVER}; GRANT SELECT ON playbook.version TO {SERVER}"
    );
    transaction.batch_execute(&may_look).await?;
    transaction.commit().await?;
    version(client).await?;
    Ok(password)
}

/// Returns the password of the role if it is new.
pub(crate) async fn add_tenant(
    client: &mut Object,
    tenant: &TenantName,
) -> anyhow::Result<Option<String>> {
    version(client).await?;
    let role = tenant.role();
    let transaction = client.transaction().await?;
    let password = login_role(&transaction, &role, "INHERIT").await?;
    transaction
        .batch_execute(&format!(
            "GRANT playbook_tenants TO \"{role}\"; GRANT \"{role}\" TO {SERVER}"
        ))
        .await?;
    transaction.commit().await?;
    Ok(password)
}

async fn login_role(
    transaction: &tokio_postgres::Transaction<'_>,
    role: &str,
    inherits: &str,
) -> anyhow::Result<Option<String>> {
    let known = "SELECT 1 FROM pg_roles WHERE rolname = $1";
    if transaction.query_opt(known, &[&role]).await?.is_some() {
        return Ok(None);
    }
    let password = format!("{:032x}", rand::random::<u128>());
    let sql = format!("CREATE ROLE \"{role}\" LOGIN {inherits} PASSWORD '{password}'");
    let made = transaction.batch_execute(&sql).await;
    made.with_context(|| format!("could not make the role {role}"))?;
    Ok(Some(password))
}
