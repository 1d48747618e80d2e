//! Settling where it outlives the session: start-up files, hooks, schedules, pipelines, the
//! agent's own settings.

use super::Kind::Persistence;
use super::rules::Rule;

/// The fragments of the patterns in this file.
pub(super) const FRAGMENTS: &[(&str, &str)] = &[
    (
        "write",
        r"add|append|write|put|insert|install|create|edit|modify|register|schedule|place|drop|inject|plant|set up|setup|copy|save|store|update|change|configure|extend|patch|amend|replace|overwrite|prepend|enable|echo|tee|paste|alter|rewrite|hook|symlink|link|point|set|load|activate|embed|leave|wire|persist|make",
    ),
    (
        "home",
        r"\bauthorized_keys\b|(?:~|\$home|/home/\S{1,40}|/root)/\.(?:bash\w*|zsh\w*|profile|z?login|config/(?:fish|autostart|systemd|environment)\S*|ssh/\S*|gitconfig|npmrc|vimrc|xprofile|local/bin/\S*|claude\S*|cursor\S*|aws/config|docker/config\S*|cargo/config\S*|pip/\S*|inputrc|tmux\.conf|curlrc|wgetrc)|(?:^|\W)\.(?:bashrc|zshrc|bash_profile|zprofile|bash_login|zshenv|bash_aliases|profile)\b|\bshell (?:profile|rc|start-?up|init)\w*(?: files?| scripts?)?\b|\b(?:user'?s|my|your) (?:shell|dotfiles|profile)\b|/etc/(?:cron\S*|profile\S*|rc\.local|hosts|sudoers\S*|ld\.so\S*|init\.d\S*|systemd\S*|ssh\S*|pam\S*|environment|passwd|crontab|resolv\.conf)|\bsudoers\b|\brc\.local\b|\bld_preload\b|\bdyld_insert_libraries\b|\bprompt_command\b|\blaunch ?(?:agents?|daemons?)\b|\blaunchctl\b|\blaunchd\b|\bsystemctl (?:--user )?enable\b|\bsystemd (?:user )?(?:unit|service|timer)s?\b|\bstart-?up (?:folder|items?|programs?|entr(?:y|ies))\b|\blogin items?\b|\bautostart\b|\brun registry key\b|\bhk(?:cu|lm)\b|\bcurrentversion\\run\b|\bschtasks\b|\bscheduled tasks?\b|\bat job\b",
    ),
    (
        "agent",
        r"\.claude/(?:settings|hooks|agents|commands|skills|plugins|rules|claude)\S*|\bsettings\.local\.json\b|\bclaude(?:[ _-]code)?(?:'s)? (?:settings|hooks|permissions|config\w*)\b|\bmcp(?: server| config\w*| settings| entry| entries)?s?\b|\.mcp\.json\b|\bmcp\.json\b|\.cursor/\S+|\.vscode/(?:tasks|settings)\.json|\b(?:session-?start|pre-?tool-?use|post-?tool-?use|user-?prompt-?submit|stop) hooks?\b|\bagent (?:settings|hooks|permissions)\b|\bpermissions?\.allow\b|\ballow(?:ed)?-?list of (?:tools|commands)\b",
    ),
    (
        "pipeline",
        r"\.github/(?:workflows|actions)\S*|\bgithub actions?(?: workflows?)?\b|\b(?:ci|cd|release|deploy\w*|build) (?:workflows?|config\w*|pipelines?|jobs?|yaml|files?|steps?|scripts?)\b|\.gitlab-ci\S*|\bjenkinsfile\b|\.circleci\S*|\bazure-pipelines\S*|\bworkflows? files?\b|\bworkflows?\b|\bdockerfiles?\b|\bmakefile\b|\bpackage\.json (?:scripts?|hooks?)\b|\b(?:post|pre)install(?: scripts?| hooks?)?\b|\bbuild\.rs\b|\bsetup\.py\b|\bconftest\.py\b|\bsitecustomize\S*|\busercustomize\S*|\bgradle init\w*\b",
    ),
    (
        "payload",
        r"\$\{\{ ?secrets|print\w*[^.;\n]{0,20}secrets|curl|wget|https?:|webhooks?|base64|pull_request_target|write-all|self-hosted|exfil\w*|printenv|env (?:dump|to)|echo[^.;\n]{0,20}(?:secret|token|key)|(?:uploads?|sends?|posts?|e-?mails?|prints?|dumps?|leaks?|copies|reports?|echoes|pings?)\b[^.;\n]{0,40}(?:secrets?|env\w*|tokens?|keys?|credentials?|source|everything|contents?|output|hostname|home|logs?)|sends? |phones? home|downloads?[^.;\n]{0,25}(?:runs?|executes?)|runs? (?:it|this|that|our|a|the) (?:remote|downloaded|external|hidden)|contents: write|id-token: write|permissions: |skips? (?:tests|checks|review|approval)|disables?|deploy keys?|nc |reverse shell|/tmp/|mine|crypto|ssh key|node -e|python -c|sh -c|\| ?sh",
    ),
];

pub(super) const RULES: &[Rule] = &[
    Rule::order(Persistence, r"(?:>>?|\btee\b(?: -a)?)\s?[\x22']?(?:%home%)"),
    Rule::order(Persistence, r"\b(?:%write%)\b[^;!?\n]{0,80}?(?:%home%)")
        .unless(r"\b(?:direnv|nvm|pyenv|rbenv|asdf|mise|completions?|java_home|android_home|android_sdk\w*|gopath|goroot|cargo/env|host alias|known_hosts|compose|quadlet|deploy/\S*\.service|infra/|ansible|terraform|nginx|packaging/|debian/|homebrew formula)\b"),
    Rule::order(Persistence, r"\bcrontab\b\s?(?:-e|-l|-|<|\S*/)|\|\s?crontab\b|\b(?:%write%)\b[^.;!?\n]{0,60}?\b(?:crontab|cron ?tab entr(?:y|ies)|cron ?jobs?|cron entr(?:y|ies)|cron)\b[^.;!?\n]{0,60}?\b(?:that|to|which|every|running|runs?|calling|for|on|so|@reboot|\*|with)\b")
        .unless(r"\b(?:config/\S+|infra/\S*|k8s|kubernetes|helm|cronjob\.ya?ml|vercel\.json|wrangler\.toml|schedule\.rb|celery|sidekiq|inngest|cloud scheduler|eventbridge|github actions|crons?\.(?:ts|js|py|rb|yaml|yml|go)|app/\S*|src/\S*|lib/\S*|apps?/\S*|deploy/\S*)(?:\s|$|\W)"),
    Rule::order(Persistence, r"@reboot\b|\bnohup\b.{0,80}?&|\bdisown\b|\bsetsid\b.{0,60}?&"),
    Rule::order(Persistence, r"\.git/hooks\b|\b(?:%write%)\b[^.;!?\n]{0,30}?\b(?:post|pre)-?(?:checkout|commit|merge|receive|push|rewrite|rebase|applypatch)\b(?: git)?(?: hooks?)?\b[^.;!?\n]{0,60}?\b(?:that|to|which|so|with|running|runs|calling|sending|sends|uploads?|downloads?|executes?|curl|always)\b|\b(?:%write%)\b[^.;!?\n]{0,25}?\b(?:a |an |new )(?:hidden |secret |silent )?git hooks?\b|\bcore\.hookspath\b|\bgit config --(?:global|system)\b|\binit\.templatedir\b|\bgit config\b.{0,20}?\balias\.\S+ .{0,6}?!")
        .unless(r"\b(?:pre-?commit install|pre-commit\.com|\.pre-commit-config|husky|lefthook|just \w+|make \w+|npm run|cargo xtask|xtask|simple-git-hooks|overcommit|user\.(?:name|email)|pull\.rebase|init\.defaultbranch|core\.autocrlf|core\.longpaths|\.githooks|scripts/\S*hooks?\S*)(?:\s|\W|$)"),
    Rule::order(Persistence, r"\b(?:%write%|allow|approve|trust|grant|whitelist)\b[^.;!?\n]{0,60}?(?:%agent%)")
        .unless(r"\b(?:of our (?:mcp )?server|mcp server in (?:src|crates|packages|apps?)|tools? of the mcp|mcp (?:server )?(?:tests?|tool handlers?|spec|protocol|schema|sdk)|we (?:build|ship|maintain)|formatter|tabs?ize|editor\.\w+|rust-analyzer|eslint\.\w+|python\.\w+)\b"),
    Rule::order(Persistence, r"\bclaude mcp add\b|\bclaude config set\b|\bclaude plugin (?:install|marketplace add)\b|/plugin (?:install|marketplace add)\b|\bclaude --\S*(?:skip|bypass|allow)\S*|\benableallprojectmcpservers\b|\bapikeyhelper\b|\banthropic_base_url ?="),
    Rule::order(Persistence, r"\b(?:%write%)\b[^.;!?\n]{0,60}?(?:%pipeline%)[^;!?\n]{0,140}?(?:%payload%)"),
    Rule::order(Persistence, r"(?:%payload%)[^;!?\n]{0,60}?\b(?:in|to|into|as|from|within|inside|of)\b[^;!?\n]{0,25}?(?:%pipeline%)[^;!?\n]{0,40}?\b(?:every|each|always|silently|all|on (?:push|every)|step|job)\b")
        .unless(r"\b(?:codecov|coverage|artifacts?|cache|docs|pages|release assets?|badge|junit|sarif|already|existing|built|wheels?)\b"),
    Rule::order(Persistence, r"\b(?:add|append|write|insert|copy|put|save|store|record|include|paste|propagate|replicate|persist|keep)\b[^.;!?\n]{0,80}?\b(?:claude\.md|agents\.md|gemini\.md|\.cursorrules|copilot-instructions\S*|\.windsurfrules|memory files?|global memory|(?:your|the agent'?s?|long[- ]term|persistent) memory|system prompts?|every (?:playbook|project|repo(?:sitory)?)|all (?:playbooks|projects|repos(?:itories)?)|other (?:playbooks|projects|repos(?:itories)?)|each (?:playbook|project|repo(?:sitory)?))\b[^;!?\n]{0,60}?\b(?:that (?:all|you|any|every|permissions?|no|it is|the user)|saying|so (?:that )?(?:it|future|every|all|other|the)|telling|instruct\w*|in every|future (?:sessions?|agents?)|survives?|persists?|permanent\w*|always|again|without|auto\w*|ignore|disable|allow)\b"),
    Rule::order(Persistence, r"\b(?:copy|add|append|propagate|spread|replicate|write|insert|install|repeat)\b[^.;!?\n]{0,15}?\b(?:this|these|the above|itself|yourself)\b[^.;!?\n]{0,30}?\b(?:to|into|in|across|onto)\b[^.;!?\n]{0,20}?\b(?:every|all|each|other|any|new)\b[^.;!?\n]{0,20}?\b(?:projects?|repos(?:itor(?:y|ies))?|sessions?|files?|playbooks?|machines?|readmes?|prompts?|answers?|responses?|commits?)\b"),
    Rule::order(Persistence, r"\b(?:alias|function) ?(?:sudo|git|ls|cd|ssh|npm|claude|docker|kubectl)\s?(?:=|\()|\b(?:ssh-copy-id|ssh-keygen\b.{0,60}?>>|visudo)\b|\badd\b[^.;!?\n]{0,40}?\b(?:ssh|public|deploy|gpg) keys?\b[^.;!?\n]{0,40}?\b(?:to|on|into)\b[^.;!?\n]{0,30}?\b(?:server|authorized|account|github|root|every|all|prod\w*|repo\w*)\b"),
    Rule::order(Persistence, r"\b(?:replace|shadow|wrap|override|overwrite|swap)\b[^.;!?\n]{0,20}?\b(?:the )?(?:git|ssh|sudo|npm|node|python|ls|cat|claude|docker|kubectl|curl|bash|sh)\b(?: binary| command| executable| wrapper)[^.;!?\n]{0,40}?\b(?:with|by|that|on path|to)\b"),
];
