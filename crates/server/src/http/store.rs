//! The server's storage: on this machine, or in `PostgreSQL`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use deadpool_postgres::{Object, Pool, Transaction};
use playbook::memory::{LearnedStats, Memory, RecallQuery, records_of};
use playbook::reflect::learned::{Effect, EffectWhenShown, Learned, LearnedFrom};
use playbook::reflect::remembered::Remembered;
use playbook::service::{ErrorQuestion, Service};
use playbook::tenant::Tenant;
use serde_json::Value;

use crate::postgres::roles::TenantName;
use crate::postgres::{self, search};

const ORIGIN: &str = "server";

pub(crate) enum TenantStore {
    /// One database per tenant, on this machine.
    Here(Arc<Here>),
    Postgres(Pool),
}

impl TenantStore {
    pub(crate) async fn learn(
        &self,
        tenant: &TenantName,
        source: LearnedFrom,
        learned: Vec<Learned>,
    ) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Here(here) => {
                here.ask(
                    tenant,
                    move |memory, _| Ok(memory.learn(&source, &learned)?),
                )
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                let transaction = begin(&mut client, tenant).await?;
                let records = records_of(&source, &learned);
                let author = (ORIGIN, source.session.as_str());
                postgres::append(&transaction, author, &records).await?;
                transaction.commit().await?;
                Ok(records.into_iter().flat_map(|record| record.ids).collect())
            }
        }
    }

    pub(crate) async fn recall(
        &self,
        tenant: &TenantName,
        query: RecallQuery,
    ) -> anyhow::Result<Vec<Remembered>> {
        match self {
            Self::Here(here) => {
                here.ask(tenant, move |memory, service| {
                    Ok(memory.recall(&query, service.now())?)
                })
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                search::recall(&begin(&mut client, tenant).await?, &query).await
            }
        }
    }

    /// Returns the shape that `playbook seen` prints.
    pub(crate) async fn seen(
        &self,
        tenant: &TenantName,
        (text, tool, project): (String, Option<String>, Option<String>),
    ) -> anyhow::Result<Value> {
        match self {
            Self::Here(here) => {
                here.ask(tenant, move |memory, _| {
                    let wanted = ErrorQuestion::of(&text, tool.as_deref());
                    let found = memory.seen(&wanted.keys, project.as_deref())?;
                    Ok(wanted.answer(project.as_deref(), found))
                })
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                let transaction = begin(&mut client, tenant).await?;
                let wanted = ErrorQuestion::of(&text, tool.as_deref());
                let found = search::about(&transaction, &wanted.keys, project.as_deref()).await?;
                Ok(wanted.answer(project.as_deref(), found))
            }
        }
    }

    /// Returns the effectiveness, or `None` for an unknown lesson.
    pub(crate) async fn outcome(
        &self,
        tenant: &TenantName,
        (id, effect): (String, Effect),
        mut source: LearnedFrom,
    ) -> anyhow::Result<Option<f64>> {
        let learned = Learned::Shown(EffectWhenShown {
            id: id.clone(),
            effect,
        });
        match self {
            Self::Here(here) => {
                here.ask(tenant, move |memory, _| {
                    let Some(known) = memory.find(&id)? else {
                        return Ok(None);
                    };
                    source.project = known.project;
                    memory.learn(&source, &[learned])?;
                    Ok(memory.find(&id)?.map(|known| known.effectiveness))
                })
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                let transaction = begin(&mut client, tenant).await?;
                let Some(known) = search::find(&transaction, &id).await? else {
                    return Ok(None);
                };
                source.project = known.project;
                let records = records_of(&source, &[learned]);
                postgres::append(&transaction, (ORIGIN, ""), &records).await?;
                let known = search::find(&transaction, &id).await?;
                transaction.commit().await?;
                Ok(known.map(|known| known.effectiveness))
            }
        }
    }

    pub(crate) async fn stats(
        &self,
        tenant: &TenantName,
        project: Option<String>,
    ) -> anyhow::Result<LearnedStats> {
        match self {
            Self::Here(here) => {
                here.ask(tenant, move |memory, _| {
                    Ok(memory.stats(project.as_deref())?)
                })
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                search::stats(&begin(&mut client, tenant).await?, project.as_deref()).await
            }
        }
    }

    pub(crate) async fn check(&self) -> anyhow::Result<()> {
        match self {
            Self::Here(_) => Ok(()),
            Self::Postgres(pool) => postgres::version(&*pool.get().await?).await.map(drop),
        }
    }
}

/// The database shows only this tenant's rows; the transaction ends with the guard.
async fn begin<'c>(client: &'c mut Object, tenant: &TenantName) -> anyhow::Result<Transaction<'c>> {
    let transaction = client.transaction().await?;
    // Every query can use an index. The planner does not know how few rows the word search returns,
    // and would rather read the whole table.
    let role = format!(
        "SET LOCAL ROLE \"{}\"; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
         SET LOCAL enable_mergejoin = off; SET LOCAL jit = off",
        tenant.role()
    );
    transaction.batch_execute(&role).await?;
    Ok(transaction)
}

/// A few connections stay open to each database.
pub(crate) struct Here {
    service: Arc<Service>,
    idle: Mutex<HashMap<String, Vec<Memory>>>,
}

impl Here {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        let idle = Mutex::default();
        Self { service, idle }
    }

    /// Queries a tenant's memory, on a thread that may block.
    async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        tenant: &TenantName,
        question: impl FnOnce(&mut Memory, &Service) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (here, name) = (Arc::clone(self), tenant.as_str().to_owned());
        let answer = tokio::task::spawn_blocking(move || {
            let idle = || here.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let known = idle().get_mut(&name).and_then(Vec::pop);
            let mut memory = match known {
                Some(memory) => memory,
                None => here.service.memory(&Tenant::named(&name))?,
            };
            let answer = question(&mut memory, &here.service);
            if answer.is_ok() {
                idle().entry(name).or_default().push(memory);
            }
            answer
        });
        answer.await.context("a question was not answered")?
    }
}
