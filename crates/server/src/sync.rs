//! `playbook-server sync`: sends what this user learned and forgot, and fetches the others'
//! records.
//!
//! An interruption does no harm: the log accepts a record once, by its name, and the position moves
//! in one transaction with the fetched records.

use std::time::Duration;

use anyhow::Context as _;
use playbook::fsx::lock::Lock;
use playbook::sharing::{Sharing, Taken};
use tokio_postgres::Client;

use crate::postgres::{self, Address};

const BATCH: u64 = 500;
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn run() -> anyhow::Result<String> {
    let mut sharing = Sharing::open()?;
    let login = Sharing::login()?.context(
        "memory.url is not set; hint: `playbook config set memory.url postgres://…`, see docs/sync.md",
    )?;
    let lock = Lock::acquire(&sharing.lock_file(), PATIENCE)?;
    let _lock = lock.context("another `playbook sync` is at work; hint: try again later")?;
    let done = exchange(&mut sharing, &Address::of(&login)?).await;
    sharing.keep(done.as_ref().err().map(|error| format!("{error:#}")))?;
    let (sent, taken) = done?;
    let refused = match taken.refused {
        0 => String::new(),
        1 => ", 1 left out: no record of ours, or it looks like an attack".to_owned(),
        refused => format!(", {refused} left out: no records of ours, or they look like an attack"),
    };
    Ok(format!("sent {sent}, fetched {}{refused}", taken.new))
}

async fn exchange(sharing: &mut Sharing, address: &Address) -> anyhow::Result<(u64, Taken)> {
    let mut client = postgres::connect(address).await?;
    let log = postgres::version(&client).await?;
    let sent = send(sharing, &mut client, &log).await?;
    let mut all = Taken::default();
    loop {
        let place = sharing.place(&log)?;
        let rows = postgres::after(&client, place.position, BATCH.cast_signed()).await?;
        let is_last = (rows.len() as u64) < BATCH;
        let taken = sharing.take(&log, rows)?;
        all.new += taken.new;
        all.refused += taken.refused;
        if is_last {
            break;
        }
    }
    sharing.settle()?;
    Ok((sent, all))
}

async fn send(sharing: &mut Sharing, client: &mut Client, log: &str) -> anyhow::Result<u64> {
    let mut sent = 0;
    let origin = sharing.place(log)?.origin;
    while let (records, Some(last)) = sharing.outgoing(BATCH)? {
        let transaction = client.transaction().await?;
        sent += postgres::append(&transaction, (&origin, ""), &records).await?;
        transaction.commit().await?;
        sharing.sent(last)?;
    }
    Ok(sent)
}
