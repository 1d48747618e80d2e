//! Connections, encrypted except to a server on this machine.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail, ensure};
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use playbook::sharing::Login;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Address {
    config: Config,
    /// `None` for a server on this machine: a certificate cannot name a socket.
    tls: Option<MakeRustlsConnect>,
}

impl Address {
    pub(crate) fn of(login: &Login) -> anyhow::Result<Self> {
        // The parser's error could quote the password.
        let Ok(mut config) = login.url.parse::<Config>() else {
            bail!("could not read memory.url: it is no address of PostgreSQL");
        };
        ensure!(
            !(config.get_hosts().is_empty() && config.get_hostaddrs().is_empty()),
            "could not read memory.url: it names no host"
        );
        if let (None, Some(password)) = (config.get_password(), &login.password) {
            config.password(password);
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            // Optional encryption could be removed by a man in the middle.
            config.ssl_mode(if is_here(&config) {
                SslMode::Disable
            } else {
                SslMode::Require
            });
        }
        config.connect_timeout(PATIENCE).keepalives_idle(PATIENCE);
        config.application_name("playbook");
        let is_plain = config.get_ssl_mode() == SslMode::Disable;
        let tls = (!is_plain).then(|| tls(login.root_certificates.as_deref()));
        let tls = tls.transpose()?;
        Ok(Self { config, tls })
    }
}

pub(crate) async fn connect(address: &Address) -> anyhow::Result<Object> {
    let connected = pool(address, 1)?.get().await;
    let connected = connected.map_err(|error| match error {
        PoolError::Backend(error) => error.into(),
        PoolError::Timeout(_) => anyhow!("it did not answer in 10 s"),
        error => error.into(),
    });
    connected.context("could not reach PostgreSQL")
}

pub(crate) fn pool(address: &Address, most: usize) -> anyhow::Result<Pool> {
    let recycled = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let config = address.config.clone();
    let manager = match &address.tls {
        Some(tls) => Manager::from_config(config, tls.clone(), recycled),
        None => Manager::from_config(config, NoTls, recycled),
    };
    let pool = Pool::builder(manager)
        .max_size(most)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE));
    Ok(pool.build()?)
}

fn tls(roots: Option<&Path>) -> anyhow::Result<MakeRustlsConnect> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(file) => {
            let unread = || format!("could not read certificates: {}", file.display());
            for certificate in CertificateDer::pem_file_iter(file).with_context(unread)? {
                store.add(certificate.with_context(unread)?)?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn is_here(config: &Config) -> bool {
    let is_loopback = |host: &Host| match host {
        Host::Tcp(name) => {
            let address = name.parse::<IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_loopback)
        && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> anyhow::Result<Address> {
        Address::of(&Login {
            url: url.to_owned(),
            password: None,
            root_certificates: None,
        })
    }

    #[test]
    fn what_leaves_this_machine_is_encrypted() {
        for (url, expected) in [
            ("postgres://u@localhost/p", SslMode::Disable),
            ("postgres://u@127.0.0.1:5433/p", SslMode::Disable),
            ("postgres://u@[::1]/p", SslMode::Disable),
            ("host=/run/postgresql user=u", SslMode::Disable),
            ("postgres://u@db.example.com/p", SslMode::Require),
            ("postgres://u@localhost.example.com/p", SslMode::Require),
            ("postgres://u@localhost,db.example.com/p", SslMode::Require),
            ("host=localhost hostaddr=10.0.0.1 user=u", SslMode::Require),
            (
                "postgres://u@db.example.com/p?sslmode=prefer",
                SslMode::Require,
            ),
            ("postgres://u@localhost/p?sslmode=require", SslMode::Require),
        ] {
            let mode = address(url).unwrap().config.get_ssl_mode();
            assert_eq!(mode, expected, "{url}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_read_is_not_quoted() {
        for url in ["postgres://u:hunter2@:x:/p?", "mysql://u:hunter2@h/p"] {
            let error = address(url).err().unwrap().to_string();
            assert!(error.starts_with("could not read memory.url"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
