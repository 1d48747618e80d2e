//! Imitations of roles, tags and markers of the conversation, and hidden markup.

use super::Kind::{Hidden, Imitation};
use super::rules::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::mention(Imitation, r"</?\s?(?:system|assistant|human|instructions?|inst|sys|user_?(?:query|message|input)|system[-_ ]?(?:prompt|reminder|message|note|override)|tool_?(?:use|result|call|response|output)s?|function_?(?:calls?|results?|response)|antml[:\w]*|invoke|admin|developer|override|thinking|scratchpad|documents?|context|playbook|key_?points?|data-[0-9a-f]+|important_?\w*|new_instructions?|ctx|message|chat)\b[^<>]{0,80}>")
        .unless(r"\b(?:component|jsx|react|vue|svelte|html|xml|element|provider|tag of|maven|pom|csproj|android|layout)\b"),
    Rule::mention(Imitation, r"</\s?(?:user|data|prompt|secret|task|rules?|env|notes?)\s?>"),
    Rule::mention(Imitation, r"\[/?(?:inst|system|sys|assistant|admin|sys_?msg|system[ _-](?:message|prompt|note|override)|end of [^\]]{1,30}|begin [^\]]{1,30})\]"),
    Rule::mention(Imitation, r"<\|[a-z_ ]{2,30}\|>|<<\s?/?sys\s?>>|\bim_(?:start|end)\b|\bbegin_of_text\b|\bend_?of_?(?:text|turn)\b|\[/?inst\]|<(?:start|end)_of_turn>|<\s?/?s\s?>\s?\["),
    Rule::mention(Imitation, r#"(?:^|[\n.;!?"'>)\]}] ?|--+ ?|#+ ?)(?:system|assistant|human|claude|chatgpt|user|ai assistant|ai)(?: (?:message|prompt|note|override|instruction|instructions|notice|update|alert|admin\w*|reminder|says))?(?: \([^)]{0,20}\))? ?(?:: |:\n|>|=>)"#)
        .unless(r"\b(?:ubuntu|debian|macos|windows|linux|fedora|node \d|python \d)\b"),
    Rule::mention(Imitation, r"(?:^|[\n.;!?] ?)(?:developer|admin(?:istrator)?|security(?: team)?|anthropic|operator|root|moderator|important) (?:message|prompt|note|override|instructions?|notice|update|alert|mode|directive|announcement|command) ?(?:: ?|\u{2014}|-)"),
    Rule::mention(Imitation, r#"["']?role["']? ?[:=] ?["'](?:system|assistant|developer|user|tool)["']"#)
        .unless(r"\b(?:api|request|payload|messages? array|openai|sdk|aria|mock)\b"),
    Rule::mention(Imitation, r"(?:^|\n|[.!?] ?)#{1,6} ?(?:system|new instructions?|instructions?|assistant|response|human|user|override|important|admin)\b ?:?"),
    Rule::mention(Imitation, r"[-=*_~<\[]{2,} ?/?(?:begin|end|start|stop)(?:ning)?[ _](?:of )?(?:the )?(?:system|user|prompt|instructions?|context|data|document|playbook|untrusted|tool|conversation|input|output|key points?|message|notes?)\b|\b(?:begin|end|start) (?:of )?(?:the )?(?:system|hidden|secret|new) (?:prompt|instructions?|message)\b|\b(?:end|close) of (?:the )?(?:playbook|key points|untrusted (?:data|content|input)|notes|data section)\b"),
    Rule::mention(Imitation, r"\[(?:pat|mis|pref|ctx|oth)-\d+\] ?helpful ?=|\bhelpful ?= ?\d+ harmful ?= ?\d+ ?::"),
    Rule::mention(Imitation, r"\b(?:this is|message from|note from|signed by|on behalf of|sent by|order of|authority of|i am|per) (?:an? |the |your )?(?:system (?:message|prompt|administrator|admin)|anthropic(?: staff| team| security| support)?|claude (?:team|security|support)|developers? of claude|security team|root|system)\b.{0,40}?(?:[:.,;!]|\byou\b|\bmust\b|\brun\b|\bplease\b)"),
    // Markup that shows one thing and says another.
    Rule::mention(Hidden, r"<!--[^>]*?\w+[^\w>]+\w+[^\w>]+\w+[^\w>]+\w+"),
    Rule::mention(Hidden, r"\]\(\s*<?(?:javascript|data|vbscript|file|command|vscode|cursor|claude):|\[//\]:\s?[#<(]|\[comment\]:\s?[#<(]|\[\^?_?\]:\s?#"),
    Rule::mention(Hidden, r"<(?:script|iframe|img|object|embed|svg|link|meta|style|form|input|base|video|audio)\b[^>]{0,200}?\b(?:src|href|on\w+|action|srcset|http-equiv|formaction)\s?="),
    Rule::mention(Hidden, r"\b(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0|color\s?:\s?(?:white|transparent|#fff))\b.{0,60}?>"),
    Rule::mention(Hidden, r"!\[[^\]]{0,200}\]\(\s?<?(?:https?:)?//"),
    Rule::order(Hidden, r"\b(?:base64 (?:-d|-di|--decode|-D)|base64-?decode\w*|atob\(|from_?base64|b64decode\w*|fromcharcode|unhexlify|xxd -r|rot-?13|caesar|hex-?decode|url-?decode|gunzip|zlib\.decompress)\b.{0,60}?\b(?:run|execute|exec|eval|follow|obey|do (?:what|as)|apply|source|sh|bash|instructions?|commands?)\b"),
    Rule::order(Hidden, r"\b(?:decode|decrypt|decipher|deobfuscate|unscramble|unpack|reverse|rot-?13|translate from (?:base64|hex|morse))\b.{0,60}?\b(?:and|then|,|;|to get)\b.{0,20}?\b(?:run|execute|exec|eval|follow|obey|do|apply|carry out|act|source)\b"),
    Rule::order(Hidden, r"\b(?:run|execute|eval|follow|obey)\b.{0,40}?\b(?:decoded|decrypted|deobfuscated|encoded|base64|rot-?13|hex-encoded|reversed|unscrambled|obfuscated|first letters)\b"),
];
