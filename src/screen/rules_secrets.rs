//! Reading credentials and other private things, and passing them on.

use super::Kind::Exfiltration;
use super::rules::Rule;

/// The fragments of the patterns in this file.
pub(super) const FRAGMENTS: &[(&str, &str)] = &[
    // Files and stores that hold nothing but credentials.
    (
        "store",
        r"(?:~|\$home|\$\{home\}|/home/\S{1,40}|/root|/users/\S{1,40})?/?\.(?:ssh|aws|gnupg|kube|azure|docker/config|config/(?:gcloud|gh|op)|password-store|netrc|pgpass|git-credentials|pypirc|vault-token|claude/\.credentials|claude\.json|bash_history|zsh_history)\b\S*|\bid_(?:rsa|ed25519|ecdsa|dsa)\b\S*|/etc/(?:shadow|passwd|sudoers|master\.passwd)\b|/proc/\S{1,20}environ|\bauthorized_keys\b|\bcredentials?\.(?:json|xml|csv|ya?ml|txt|db|toml)\b|\bservice[-_ ]account\S{0,20}(?:\.json| keys?| credentials)|\bkey ?chain\b|\blogin data\b|\bcookies\.sqlite\b|\bwallet(?:\.dat|s?\b)|\bseed phrases?\b|\bprivate keys?\b|\bssh keys?\b|\bkubeconfigs?\b|\bbrowser (?:cookies|passwords|history|profile)\b|\bsaved passwords\b|\bpassword (?:store|manager|vault)s?\b|\b(?:aws|gcp|azure|cloud|git|npm|docker) credentials\b|\bmetadata (?:service|endpoint)\b|169\.254\.169\.254|\bshell history\b|\bsession cookies?\b|\brecovery codes?\b|\b2fa codes?\b",
    ),
    (
        "env_file",
        r"(?:^|[\s`'\x22(/@=:<])\.env(?:\.(?:local|prod\w*|staging|dev\w*|live))?(?:$|[\s`'\x22),:;|&>]|\.(?:\s|$))",
    ),
    (
        "secret",
        r"(?:deploy|signing|encryption|service|master|root|host|license|admin|aws|gcp|azure|cloud|stripe|openai|anthropic|github) keys?|environment variables?|env(?:ironment)? vars?|printenv|process\.env|os\.environ|secrets?|api[-_ ]?keys?|passwords?|passphrases?|credentials?|access keys?|(?:auth|access|api|github|gitlab|npm|session|bearer|oauth|refresh|deploy|bot|slack|jwt|aws|cloud|login|claude|anthropic|openai|publish|personal access|security|id)[-_ ]?tokens?|\$?\{?\w{0,40}_(?:token|key|secret|password|pass|pwd|credentials)\b|\.npmrc",
    ),
    (
        "send",
        r"send|post|upload|exfiltrate|exfil|e-?mail|mail|forward|transmit|leak|ship|submit|share|paste|push|copy|sync|stream|relay|deliver|append|attach|embed|include|smuggle|publish|report|encode|commit|beacon|ping|dump|mirror|tunnel|put|write|add|insert|drop|back up|backup|curl|wget|nc|scp|rsync|http|dig|nslookup|request|fetch|call|render|pass along|hand over|disclose|expose|quote|drop off|route|proxy|dispatch|funnel|pipe",
    ),
    (
        "away",
        r"https?:|ftps?:|wss?:|[\w.+-]+@[\w-]+\.\w{2,}|webhooks?|pastebin\S*|hastebin|gists?|ngrok\S*|requestbin\S*|webhook\.site|burp\S*|interactsh|oast\S*|telegram|discord|slack channel|dns (?:quer(?:y|ies)|lookups?|requests?|txt)|subdomains?|attackers?\S*|external\b|third[- ]part(?:y|ies)|outside|elsewhere|publicly|public (?:gist|repo(?:sitory)?|bucket|channel|url|issue|page|paste|branch|fork|folder)|query (?:strings?|param\w*)|url param\w*|(?:github |gitlab |jira )?issues?\b|pull requests?|\bpr (?:descriptions?|bod(?:y|ies)|comments?)|commit (?:messages?|descriptions?)|comments?\b|chat\b|branch names?|file ?names?|(?:commit|pr|issue) titles?|host ?names?|alt text|(?:bug |crash |error |status )reports?|support (?:bundles?|tickets?|team)|tickets?|(?:your|each|every|all|any|the (?:next|first|last|final)) (?:next |first |final |every |last |own )?(?:repl(?:y|ies)|answers?|responses?|output|messages?|summar(?:y|ies)|greeting)|the (?:reply|answer|response|chat|conversation|summary|transcript)|user-agent|s3://|gs://|remote (?:server|host|endpoint|url|machine|collector|logger)|(?:my|our|their|a) (?:server|endpoint|collector|machine|host|inbox|drive|listener|bucket)|analytics (?:server|endpoint|service)|collection (?:server|endpoint)|collector|drop ?box|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|evil\S*|\S*\.onion|image url|markdown image|invisible image|tracking pixel|release notes|readme|changelog|telemetry",
    ),
];

pub(super) const RULES: &[Rule] = &[
    Rule::order(Exfiltration, r"\b(?:cat|read|print|echo|dump|show|open|copy|cp|mv|collect|grab|display|include|paste|log|output|reveal|extract|scan|search|find|harvest|steal|load|view|inspect|tail|head|less|base64|zip|tar|encode|gather|retrieve|look (?:at|in|for|into|through)|enumerate|export|archive|curl|quote|summari[sz]e|check|fetch|request|query|get|list|ls|decrypt|unlock|attach|embed|send|upload|post|exfiltrate|back up|backup|ingest|memori[sz]e|obtain|access|exploit|parse|put|take|move|commit|write|save|store|turn|convert|note|give|hand|bring|transfer)\b[^.;!?\n]{0,50}?(?:%store%)")
        .unless(r"\b(?:never|example|sample|fixtures/\S*|fake|dummy|mock\w*|test (?:key|credentials)|\.pub|public key|sealed|sops)\b"),
    Rule::order(Exfiltration, r"\b(?:cat|print|echo|dump|display|show|reveal|paste|output|log|include|recite|repeat|quote|list|summari[sz]e|embed|attach|head|tail|less|more|base64|read (?:out|aloud|back)|zip|tar|archive|upload|send|post|exfiltrate|e-?mail|share|publish|encode)\b[^.;!?\n]{0,40}?(?:%env_file%)")
        .unless(r"\.env\.(?:example|sample|template)"),
    Rule::order(Exfiltration, r"\b(?:cat|print|echo|dump|display|reveal|paste|output|recite|repeat|quote|embed|attach|include|harvest|collect|gather|extract|steal|enumerate|write out|read out|disclose|expose|leak|state)\b[^.;!?\n]{0,15}?\b(?:all|every|any|the|your|their|our|its|user'?s?|contents? of|values? of)\b[^.;!?\n]{0,25}?\b(?:environment variables?|env(?:ironment)? vars?|secrets|api[-_ ]?keys?|passwords|credentials|access keys?|(?:auth|access|api|github|session|bearer|npm|oauth|refresh)[-_ ]tokens?|process\.env|os\.environ)\b")
        .unless(r"\b(?:masked|redacted|names? only|names of|without (?:their |the )?values?|last (?:4|four)|placeholder|schema|docs?|documentation|readme|table|help)\b"),
    Rule::order(Exfiltration, r"\b(?:%send%)\b[^.;!?\n]{0,90}?(?:%secret%|%store%|%env_file%)[^.;!?\n]{0,90}?(?:\b|\s|\()(?:%away%)")
        .unless(r"\b(?:gh secret|secret manager|secrets? store|rotate|revoke|issue (?:a|the|new)|authorization header|1password|vault)\b"),
    Rule::order(Exfiltration, r"\b(?:%send%)\b[^.;!?\n]{0,60}?(?:\b|\s|\()(?:%away%)[^.;!?\n]{0,90}?\b(?:with|containing|including|carrying|plus|together with|along with|of|and)\b[^.;!?\n]{0,40}?(?:%secret%|%store%|%env_file%)")
        .unless(r"\b(?:authorization header|gh secret|secret manager|rotate|revoke|bearer)\b"),
    Rule::order(Exfiltration, r"(?:%secret%|%store%|%env_file%)")
        .with(&[
            r"\b(?:write|put|take|include|use|encode|summari[sz]e|send|post|copy|add|paste|append|attach|upload|mention|list|state|repeat|quote|drop|leave|share|forward|report|print|echo|show|place|insert|embed|hide|publish|submit|e-?mail|mail|move|save|store|pass|give|hand|push|commit|translate|spell|render|return|output|log|dump|set|name|base64-encode|read out|tell|provide|reveal|expose|disclose|transmit|make|turn|convert|transform|export|collect|note|record|cite|respond|reply|answer|contain|contains|carry|begin|start|end|open|close|screenshot)\b",
            r"(?:\b|\s|\()(?:%away%)",
        ])
        .unless(r"\b(?:masked|redacted|names? (?:only|of)|placeholders?|issue (?:a|the|new)|docs?|documentation|gh secret|secret manager|secrets? (?:store|manager)|rotate|revoke|authorization header|1password|vault|example|template|sample|encrypt\w*|sops|bearer|fake|dummy|mock\w*|test (?:key|credentials|mode)|localhost|127\.0\.0\.1|readme (?:lists|explains|describes|says|shows)|sandbox|oauth|login flow|schema|counts?|usage|budget|limits?|expir\w+|are read from|is read from|comes? from)\b"),
    Rule::order(Exfiltration, r"\b(?:export|dump|copy|send|upload|post|publish|turn|convert|transform|write|print|sync|mirror|push|extract)\b[^.;!?\n]{0,25}?\b(?:vault|password manager|key ?chain|key ?ring|secret store|all secrets|the secrets|credential store)\b[^.;!?\n]{0,60}?(?:\b|\s|\()(?:%away%|qr codes?|images?|pastes?)"),
    Rule::order(Exfiltration, r"\b(?:echo|print\w*|printf|log|cat|output|show|dump|display|write|say|state|tell)\b[^.;!?\n]{0,30}?\$\{?\{?\s?\w*(?:token|key|secret|password|passwd|credential)\w*")
        .unless(r"--password-stdin|\blogin\b|github_env|github_output|\bmask\w*|\bredact\w*|\blength\b|\bset or not\b|add-mask"),
    Rule::order(Exfiltration, r"(?:\benv|\bprintenv|\bset|\bexport -p|\bhistory|\bcat [^|\n]{1,80}|\bbase64[^|\n]{0,60}|\btar [^|\n]{1,80}|\bzip [^|\n]{1,80}|\bgit (?:log|diff|archive)[^|\n]{0,60}|\bls [^|\n]{0,40}|\bwhoami|\buname[^|\n]{0,10}|\bfind [^|\n]{1,60}|\bgrep [^|\n]{1,80}|\bjq [^|\n]{1,60})\s?\|\s?.{0,60}?\b(?:curl|wget|nc|ncat|netcat|mail|sendmail|ssh|openssl s_client|dig|nslookup|telnet|socat|http|xh|aws s3 cp|rclone)\b"),
    Rule::order(Exfiltration, r#"\b(?:curl|wget|http|xh|iwr|irm|fetch)\b.{0,200}?(?:\s-d|--data\S*|\s-f|--form|\s-t|--upload-file|--post-(?:data|file)|--body-(?:data|file)|\?\w+=|/\$|body:)\s?=?["'`]?\S{0,60}?(?:@\S*(?:env|rsa|ed25519|cred|ssh|aws|key|netrc|passwd|shadow|history|kube)|\$\(|`|\$\{?\w*(?:token|key|secret|pass|cred|env|home|user)|<\()"#),
    Rule::order(Exfiltration, r"\b(?:dig|nslookup|host|ping|drill)\b.{0,80}?(?:\$\(|\$\{?\w|`|\bbase(?:64|32)\b|\bencoded\b|\bsecret|\btoken|\bhostname\b.{0,10}?\.)"),
    Rule::order(Exfiltration, r"\b(?:scp|rsync|rclone|sftp|ftp|aws s3 (?:cp|sync)|gsutil cp|gcloud storage cp|croc|magic-wormhole|transfer\.sh)\b.{0,80}?(?:%store%|%env_file%|\s~/?(?:\s|$)|\$home)"),
    Rule::order(Exfiltration, r"\b(?:send|upload|post|exfiltrate|exfil|e-?mail|forward|transmit|leak|mirror|stream|beacon|report|push|copy|sync|publish|ship|share|submit|dump|relay|make|take|keep|store|save|log|record|back up|zip|archive)\b[^.;!?\n]{0,40}?\b(?:source(?: code| files)?|code ?base|repo(?:sitory|s)?|whole project|private (?:files|data|code)|conversations?|transcripts?|chat (?:history|logs?)|prompts?|system prompt|everything|entire session|session (?:data|contents|history)|contents of|working (?:directory|folder|tree)|home (?:directory|folder)|customer (?:data|records|list)|personal data|user data|screenshots?(?: of \w+(?: \w+)?)?|clipboard|desktop|screen|webcam|microphone|pii|database dumps?|files you read|all files|every file|each file|each prompt|every prompt|diffs?|keystrokes|clipboard|memory|git history|environment|proprietary)\b[^.;!?\n]{0,70}?(?:\b|\s|\()(?:%away%)")
        .unless(r"\b(?:ci|github actions|codecov|sentry|prettier|docs site|artifact|crates\.io|pypi|npm registry|issue template|link)\b"),
    Rule::order(Exfiltration, r"\b(?:commit|git add|check in|push|track|add|include|publish|bundle)\b[^.;!?\n]{0,30}?(?:%env_file%|\b(?:private keys?|id_rsa|credentials?(?: files?)?|production (?:secrets?|passwords?)|(?:the|all|our|your) (?:secrets?|api keys?|passwords?))\b)[^.;!?\n]{0,40}?\b(?:git\b|repo\w*|version control|commit|history|branch|so |with|along|image|package|bundle|artifact|to (?:the )?(?:repo|git|public|main)|always|every|file|$)")
        .unless(r"\b(?:encrypt\w*|sealed|sops|example|template|git-?ignore\w*|ignored|git-crypt|age|vault|placeholder|dummy|fake|secret manager|github secrets|ci secrets|allowlist|1password|dockerignore)\b"),
    Rule::order(Exfiltration, r"\b(?:git add|git commit|commit|stage|check in)\b[^;!?\n]{0,12}?(?:-f |--force )?(?:%env_file%)")
        .unless(r"\b(?:example|template|sample|encrypt\w*|sops)\b"),
    Rule::order(Exfiltration, r"\b(?:post|put|place|write|paste|include|append|embed|hide|encode|drop|leave|mention|add)\b[^.;!?\n]{0,40}?(?:%secret%|%store%)[^.;!?\n]{0,40}?\b(?:in|into|to|as|inside|at the end of|within)\b[^.;!?\n]{0,20}?\b(?:commit (?:messages?|descriptions?)|pull requests?|pr (?:descriptions?|bod(?:y|ies)|titles?|comments?)|issues?|(?:code )?comments?|branch names?|(?:file|host) ?names?|your (?:\w+ )?(?:reply|replies|answers?|responses?|messages?|output|summar(?:y|ies))|the (?:reply|answer|response|summary|chat|url|query)|logs?|readme|release notes|urls?|image|link|alt text|user-agent|dns)\b")
        .unless(r"\b(?:masked|redacted|names? (?:only|of)|placeholders?|issue (?:a|the|new)|documentation|docs)\b"),
    Rule::order(Exfiltration, r"\b(?:git remote (?:add|set-url)|git config .{0,30}?(?:insteadof|pushurl|url\.)|remote\.origin\.pushurl)\b"),
    Rule::order(Exfiltration, r"\b(?:push|mirror|clone|fork|copy)\b[^.;!?\n]{0,40}?\b(?:to|into|onto) (?:a |my |the |an |another |their )?(?:public|personal|external|attacker\S*|mallory\S*|stranger'?s?|unrelated|third[- ]party|my own|backup) (?:fork|repo(?:sitory)?|remote|mirror|account|gist|bucket|server)\b"),
    Rule::order(Exfiltration, r"\b(?:find|search|grep|look|scan|hunt|crawl)\b[^.;!?\n]{0,30}?\b(?:for |all |any )?(?:api keys?|secrets|passwords|credentials|private keys?|tokens|wallets?)\b[^.;!?\n]{0,60}?\b(?:and|then|,)\b[^.;!?\n]{0,20}?\b(?:send|report|print|post|upload|list|save|collect|write|store|copy|use|include|paste|log|keep|show|return|output|mail|email)\b"),
    Rule::order(Exfiltration, r"\b(?:ask|prompt|trick|persuade|tell|request|get)\b[^.;!?\n]{0,15}?\b(?:the )?(?:user|developer|human|owner)\b[^.;!?\n]{0,20}?\b(?:for|to (?:paste|type|enter|send|share|reveal|give|provide|confirm|tell))\b[^.;!?\n]{0,25}?\b(?:password|passphrase|api key|private key|seed phrase|credit card|2fa|token|ssh key|secret|credentials|recovery|login)\b")
        .unless(r"\b(?:form|page|dialog|screen|ui|endpoint|login flow|cli)\b"),
];
