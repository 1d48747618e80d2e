//! Passwords on command lines and in calls; found by looking closer.

use crate::redact::rule::{Find, rules};
use crate::redact::{call, command};

rules! {
    "command-password" [of command::NAMES] Find::Code(command::look);
        finds [
            "mysql -u root -p«hunter2» db" "sshpass -p '«hunter2»' ssh x" "curl -s -u admin:«hunter2» https://x"
            "docker login -u me -p «hunter22» reg.io" "redis-cli -h x -a «hunter22»"
            "ldapsearch -x -D 'cn=a' -w '«Tf54eR5sYD»' -b dc=a" "zip -r -P «EwmrgXIwE2» a.zip b" "7z a -p«EnfhG12» a.7z b"
            "xfreerdp /v:w /u:o /p:«CKaPE8S3» /cert-ignore" "ssh-keygen -t ed25519 -N '«NGG2Vpl1»' -f id"
            "CREATE USER 'app'@'%' IDENTIFIED BY '«hunter2»';" "$p = ConvertTo-SecureString -String \"«hunter22»\" -AsPlainText"
            "sqlplus app/«BCG7aOK»@db:1521/X @a.sql" "jdbc:oracle:thin:scott/«tiger22»@//h:1521/X"
            "htpasswd -bc .htpasswd admin «NL14AFkE»" "rabbitmqctl add_user svc «Do9rUqU2»"
            "net use Z: \\\\nas\\s «XXIJlh12» /user:a\\b" "oathtool --totp -b «3RYWMH76MA74VCEB»"
            "gh secret set X --body '«KffH630T»'" "vault login «s.OLMKKzHR0kA70hHECq5c»"
        ] leaves [
            "mysql -u root -p db" "curl -u $USER:$PASS x" "curl --user-agent a:b" "docker login -p $TOKEN"
            "sqlplus / as sysdba" "sqlplus /nolog" "zip -r out.zip src" "net use Z: \\\\nas\\share /user:a\\b" "7z x a.7z -o/tmp"
            "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519" "a user is identified by their name" "identified by ID_AA64ISAR1_EL1" "specified by \"displayLocale\"" "dotnet user-secrets list" "IDENTIFIED BY '<password>'"
            "ConvertTo-SecureString $env:PW -AsPlainText" "htpasswd -c .htpasswd admin" "bundle config set path vendor/bundle"
            "vault login -method=oidc" "snyk auth" "openssl rand -base64 32" "unzip -P $PW a.zip"
        ]
    "command-password" [" -p " " -P " " -w "] Find::Code(command::look_flag);
        finds ["mycli -u me -p '«hunter22»' x" "tool login -U sa -P «F9TBX51Pn07f2»" "x -w «Tf54eR5sYDnkmKZ8» -D cn=a"]
        leaves [
            "docker run -u 1000 -p 8080:80 img" "sudo -u app mkdir -p build/release2024" "ssh -p 22 -u x" "mkdir -p a1b2c3d4e5f6g7"
            "psql -U app -p 5432 -w" "x -u me -p \"$PW\""
        ]
    "command-password" [of command::RECEIVERS] Find::Code(command::look_pipe);
        finds [
            "echo 'deploy:«DgLTPII»' | chpasswd" "echo «IequWr8» | sudo -S ls"
            "printf '%s' \"«hunter22»\" | docker login -u a --password-stdin"
            "echo -n '«Tt4iTmMW»' | cryptsetup luksOpen a b -" "docker login --password-stdin <<< \"«hunter22»\""
        ] leaves [
            "docker login --username ci --password-stdin reg < token.txt" "cat pw | sudo -S ls" "echo $PW | sudo -S ls"
            "echo \"$PW\" | docker login --password-stdin" "echo done; cat x | chpasswd"
        ]
    "argument-password" [of call::NAMES] Find::Code(call::look);
        finds [
            "new PDO('mysql:host=db;dbname=s', 'app', '«YNkrz4nl»');" "requests.get(u, auth=('me', '«hunter22»'))"
            "DriverManager.getConnection(url, \"app\", \"«hunter22»\")" ".basic_auth(\"me\", Some(\"«hunter22»\"))"
            "new NetworkCredential(\"me\", \"«hunter22»\")"
        ] leaves [
            "auth=(user, password)" "requests.get(u, auth=('user', 'password'))" "new PDO($dsn, $user, $pass)"
            "smtp.login(user, os.environ['PW1'])" "getConnection(\"jdbc:h2:mem:db1\")" "new PDO('sqlite:db3')"
        ]
    "argument-password" ["ues (" "ues("] Find::Code(call::look_values);
        finds ["INSERT INTO users (name, password) VALUES ('joe', '«S3cretPw»')" "insert into u(api_token,x) values('«q8Zk2Lm4»',1);"]
        leaves [
            "INSERT INTO users (name, password) VALUES (?, ?)" "INSERT INTO t (name) VALUES ('joe12345')"
            "INSERT INTO users (password_hash) VALUES ('$2b$10$abc')" "VALUES ('joe', 'S3cretPw')"
        ]
}
