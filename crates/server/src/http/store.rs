//! The server's storage: on this machine, or in `PostgreSQL`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use deadpool_postgres::Pool;
use playbook::memory::{Answer, Memory, Question};
use playbook::reflect::learned::{Learned, LearnedFrom};
use playbook::service::Service;
use playbook::tenant::Tenant;

use crate::postgres::roles::TenantName;
use crate::postgres::{self, search};

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
                let transaction = postgres::begin(&mut client, Some(tenant)).await?;
                let ids = postgres::learn(&transaction, &source, &learned).await?;
                transaction.commit().await?;
                Ok(ids)
            }
        }
    }

    pub(crate) async fn ask(
        &self,
        tenant: &TenantName,
        question: Question,
    ) -> anyhow::Result<Answer> {
        match self {
            Self::Here(here) => {
                here.ask(tenant, move |memory, service| {
                    Ok(memory.ask(&question, service.now())?)
                })
                .await
            }
            Self::Postgres(pool) => {
                let mut client = pool.get().await?;
                search::ask(
                    &postgres::begin(&mut client, Some(tenant)).await?,
                    &question,
                )
                .await
            }
        }
    }

    pub(crate) async fn check(&self) -> anyhow::Result<()> {
        match self {
            Self::Here(_) => Ok(()),
            Self::Postgres(pool) => postgres::version(&*pool.get().await?).await,
        }
    }
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
