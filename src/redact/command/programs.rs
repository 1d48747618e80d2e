//! Programs, and how they take a password.

use Takes::{AfterColon, AfterSlash, Apart, Attached, Last, Next, Quoted, Second};

/// How a program takes its password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `-psecret`.
    Attached,
    /// `-p secret` or `-psecret`.
    Apart,
    /// `-u user:secret`.
    AfterColon,
    /// `secret`, the first word that is no flag.
    Next,
    /// The same, and always in quotes.
    Quoted,
    /// `user secret`.
    Second,
    /// `… secret`.
    Last,
    /// `user/secret@place`.
    AfterSlash,
}

/// Programs, the flag (or what must stand on the line), and how it is given.
pub(super) const FLAGS: &[(&str, &str, Takes)] = &[
    ("codecov", "-t", Apart),
    ("http-basic", "", Last),
    ("secret set", "--body", Apart),
    ("secret set", "-b", Apart),
    ("7z a", "-p", Attached),
    ("7z x", "-p", Attached),
    ("7za", "-p", Attached),
    ("az acr login", "-p", Apart),
    ("az login", "-p", Apart),
    ("b2 account authorize", "", Second),
    ("b2 authorize", "", Second),
    ("bcp", "-P", Apart),
    ("bundle config", "set", Last),
    ("cbq", "-p", Apart),
    ("-SecureString", "", Quoted),
    ("couchbase-cli", "-p", Apart),
    ("cqlsh", "-p", Apart),
    ("curl", "--proxy-user", AfterColon),
    ("curl", "--user", AfterColon),
    ("curl", "-U", AfterColon),
    ("curl", "-u", AfterColon),
    ("cypher-shell", "-p", Apart),
    ("docker login", "-p", Apart),
    ("htpasswd", " -b", Last),
    ("htpasswd", " -nb", Last),
    ("htpasswd", " -cb", Last),
    ("htpasswd", " -Bb", Last),
    ("http", "--auth", AfterColon),
    ("http", "-a", AfterColon),
    ("identified by", "", Quoted),
    ("ldapadd", "-w", Apart),
    ("ldapdelete", "-w", Apart),
    ("ldapmodify", "-w", Apart),
    ("ldappasswd", "-s", Apart),
    ("ldappasswd", "-w", Apart),
    ("ldapsearch", "-w", Apart),
    ("ldapwhoami", "-w", Apart),
    ("mariadb", "-p", Attached),
    ("mc alias set", "", Last),
    ("mongo", "-p", Apart),
    ("mongodump", "-p", Apart),
    ("mongorestore", "-p", Apart),
    ("mongosh", "-p", Apart),
    ("mosquitto_pub", "-P", Apart),
    ("mosquitto_sub", "-P", Apart),
    ("mysql", "-p", Attached),
    ("_password by", "", Quoted),
    ("net use", "/user:", Last),
    ("net user", "", Second),
    ("oathtool", "", Last),
    ("openssl enc", "-k", Apart),
    (":thin:", "", AfterSlash),
    ("psexec", "-p", Apart),
    ("podman login", "-p", Apart),
    ("rabbitmqctl add_user", "", Second),
    ("rabbitmqctl change_password", "", Second),
    ("redis-cli", "-a", Apart),
    ("registry login", "-p", Apart),
    ("skopeo", "--creds", AfterColon),
    ("skopeo", "--dest-creds", AfterColon),
    ("skopeo", "--src-creds", AfterColon),
    ("smbclient", "-U", AfterColon),
    ("snyk auth", "", Next),
    ("sqlcmd", "-P", Apart),
    ("sqlplus", "", AfterSlash),
    ("ssh-keygen", "-N", Apart),
    ("ssh-keygen", "-P", Apart),
    ("sshpass", "-p", Apart),
    ("twine", "-p", Apart),
    ("unzip", "-P", Apart),
    ("vault login", "", Next),
    ("xfreerdp", "/p:", Attached),
    ("zip", "-P", Apart),
];

/// The programs alone, as often as they stand in the table.
pub(in crate::redact) const NAMES: &[&str] = &{
    let mut names = [""; FLAGS.len()];
    let mut at = 0;
    while at < FLAGS.len() {
        names[at] = FLAGS[at].0;
        at += 1;
    }
    names
};
