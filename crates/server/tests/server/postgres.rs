use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::user::User;

/// A server in a temporary folder that trusts every client of its socket.
pub(crate) struct Postgres {
    folder: tempfile::TempDir,
    programs: PathBuf,
}

impl Postgres {
    /// Adds the tenants `team` and `others`. Returns `None` if `PostgreSQL` is not installed.
    pub(crate) fn start() -> Option<Self> {
        let server = Self::empty()?;
        server.admin(&["server", "init"]);
        for tenant in ["team", "others"] {
            server.admin(&["server", "tenant", tenant]);
        }
        Some(server)
    }

    pub(crate) fn empty() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let places = versions
            .map(|version| version.unwrap().path().join("bin"))
            .chain(std::env::split_paths(&path));
        let Some(programs) = places.into_iter().find(|bin| bin.join("initdb").is_file()) else {
            println!("skipped: PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let server = Self { folder, programs };
        if is_root() {
            let mut owned = Command::new("chown");
            owned.arg("postgres").arg(server.at());
            assert!(owned.status().unwrap().success());
        }
        let data = server.data();
        server.run("initdb", &["-N", "-A", "trust", "-U", "admin", "-D", &data]);
        let log = format!("{data}/log");
        let socket = server.at().display();
        let options = format!("-k {socket} -c listen_addresses= -c fsync=off");
        let start = ["-D", &data, "-w", "-l", &log, "-o", &options, "start"];
        server.run("pg_ctl", &start);
        Some(server)
    }

    pub(crate) fn at(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> String {
        self.at().join("data").to_str().unwrap().to_owned()
    }

    pub(crate) fn admin(&self, args: &[&str]) -> String {
        let user = User::new();
        let mut command = user.command(args);
        let output = command
            .env("PLAYBOOK_MEMORY_URL", self.url("admin"))
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn run(&self, program: &str, args: &[&str]) -> String {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        // `pg_ctl` leaves a server behind that keeps an inherited pipe open.
        let told = tempfile::NamedTempFile::new().unwrap();
        let file = told.reopen().unwrap();
        let status = command
            .args(args)
            .current_dir("/")
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status();
        let said = fs::read_to_string(told.path()).unwrap();
        assert!(status.unwrap().success(), "{said}");
        said
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        let host = self.at().to_str().unwrap();
        let args = ["-h", host, "-U", "admin", "-d", "postgres", "-Atc", sql];
        self.run("psql", &args).trim().to_owned()
    }

    pub(crate) fn url(&self, role: &str) -> String {
        let host = self.at().to_str().unwrap().replace('/', "%2F");
        format!("postgres://{role}@{host}/postgres")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "stop"]);
    }
}

pub(crate) fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}
