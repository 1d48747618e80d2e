//! Writes to the database of `memory.url` what waits for it on this machine, and asks it.
//!
//! An interruption does no harm: what waits is taken off the list only when it is written, and
//! writing it again changes nothing.

use std::io::{Read as _, stdin};
use std::time::Duration;

use anyhow::Context as _;
use deadpool_postgres::Object;
use playbook::fsx::lock::Lock;
use playbook::memory::Question;
use playbook::sharing::Sending;

use crate::postgres::{self, Address, search};

const BATCH: u64 = 500;
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait of a question for a process that is writing.
const PATIENCE_OF_A_QUESTION: Duration = Duration::from_secs(1);
const NO_URL: &str = "memory.url is not set; hint: `playbook config set memory.url postgres://…`, see docs/stores.md";

/// Writes all that waits.
pub(crate) async fn run() -> anyhow::Result<()> {
    let mut sending = Sending::open()?;
    let lock = Lock::acquire(&sending.lock_file(), PATIENCE)?;
    let _lock = lock.context("another process is writing to the database")?;
    let done = async {
        let mut client = connect().await?;
        while send(&mut sending, &mut client).await? {}
        Ok(())
    };
    let done: anyhow::Result<()> = done.await;
    sending.keep(done.as_ref().err().map(|error| format!("{error:#}")))?;
    done
}

async fn connect() -> anyhow::Result<Object> {
    let login = Sending::login()?.context(NO_URL)?;
    let client = postgres::connect(&Address::of(&login)?).await?;
    postgres::version(&client).await?;
    Ok(client)
}

/// Writes the oldest memories that wait; returns `false` if none waited.
async fn send(sending: &mut Sending, client: &mut Object) -> anyhow::Result<bool> {
    let (records, Some(last)) = sending.outgoing(BATCH)? else {
        return Ok(false);
    };
    let transaction = client.transaction().await?;
    postgres::put(&transaction, sending.machine(), records).await?;
    transaction.commit().await?;
    sending.sent(last)?;
    Ok(true)
}

/// Answers the question on stdin. What has just been learned here is written first.
pub(crate) async fn ask() -> anyhow::Result<String> {
    let mut question = String::new();
    stdin().read_to_string(&mut question)?;
    let question: Question = serde_json::from_str(&question)?;
    let mut sending = Sending::open()?;
    let mut client = connect().await?;
    if let Some(_lock) = Lock::acquire(&sending.lock_file(), PATIENCE_OF_A_QUESTION)? {
        send(&mut sending, &mut client).await?;
    }
    let transaction = postgres::begin(&mut client, None).await?;
    Ok(serde_json::to_string(
        &search::ask(&transaction, &question).await?,
    )?)
}
