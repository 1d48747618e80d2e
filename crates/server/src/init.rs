//! `playbook-server init` and `tenant`: the tables and the roles of the shared store.

use anyhow::Context as _;
use playbook::sharing::Sharing;
use serde_json::json;
use tokio_postgres::Client;

use crate::postgres::roles::{self, TenantName};
use crate::postgres::{self, Address};

pub(crate) async fn tables() -> anyhow::Result<()> {
    let password = roles::init(&mut owner().await?).await?;
    tell("playbook_server", password.as_deref());
    Ok(())
}

pub(crate) async fn tenant(name: &str) -> anyhow::Result<()> {
    let name = TenantName::parse(name)?;
    let password = roles::add_tenant(&mut owner().await?, &name).await?;
    tell(&name.role(), password.as_deref());
    Ok(())
}

/// The role and its password, which is told this once.
fn tell(role: &str, password: Option<&str>) {
    println!("{}", json!({"role": role, "password": password}));
    match password {
        Some(_) => eprintln!("The password is told this once and stored nowhere."),
        None => eprintln!("The role was there already; it keeps its password."),
    }
}

async fn owner() -> anyhow::Result<Client> {
    let login = Sharing::login()?;
    let login = login.context(
        "there is no address of a database; hint: set PLAYBOOK_MEMORY_URL for this command to that \
         of a role that may make roles",
    )?;
    postgres::connect(&Address::of(&login)?).await
}
