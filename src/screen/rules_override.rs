//! Orders that set themselves above the user, the system or their rules, or that keep
//! something from the user.

use super::Kind::{Override, Secrecy};
use super::rules::Rule;

/// The fragments of the patterns in this file.
pub(super) const FRAGMENTS: &[(&str, &str)] = &[
    (
        "ignore",
        r"ignor(?:e|es|ing)|disregard\w*|forget|overrid(?:e|es|ing)|overrul\w+|disobey\w*|dismiss|discount|supersed\w+|invalidat\w+|nullif\w+|countermand|rescind|revoke|set aside|put aside|look past|pay no (?:attention|heed) to|pay no mind to|overlook|neglect|(?:do not|don't|dont|need not|no longer|never|stop|cease|quit)(?: need to| have to)? (?:follow\w*|obey\w*|listen\w* to|adher\w* to|comply\w* with|honou?r\w*|abid\w+ by|respect\w*|bound by|apply\w*)|not bound by|free (?:of|from)|exempt from|let go of|throw (?:out|away)|leave behind|erase|wipe|unlearn|bypass|circumvent|ditch|scrap|abandon|discard|drop|reset|cancel|void|skip over",
    ),
    (
        "earlier",
        r"previous(?:ly)?|prior|above|earlier|preceding|past|former|foregoing|existing|original|initial|current|system|developer|safety|security|ethical|your|these|those|all|any|every|other|user'?s?|anthropic'?s?|claude'?s?|given|default|standing|hidden|built-?in|core|first",
    ),
    (
        "orders",
        r"instructions?|instruct|prompts?|directives?|directions?|guidelines?|guardrails?|guidance|system messages?|safeguards?|programming|training|constitution|rulebook|mandates?|briefing|edicts?|claude\.md|commandments?",
    ),
    (
        "rules",
        r"rules|commands?|constraints?|restrictions?|polic(?:y|ies)|limits|limitations|messages?|orders|context|conversation|wishes|preferences|requests?|concerns|objections|boundaries|protections?|key points?|playbook",
    ),
];

/// Ignoring orders, in so many words.
pub(super) const ORDERED_AWAY: &str =
    r"\b(?:%ignore%)\b.{0,30}?\b(?:%earlier%)\b.{0,25}?\b(?:%orders%)\b";

/// The same without spaces and marks.
pub(super) const IN_ONE_WORD: &str = r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|every|of|these|those|my|other){0,4}(?:previous|prior|above|earlier|preceding|system|original|existing|former)(?:and|system|user|safety|security|given)?(?:instruction|prompt|rule|guideline|directive|direction|message|constraint|order|policy)";

pub(super) const RULES: &[Rule] = &[
    Rule::omission(Override, ORDERED_AWAY),
    Rule::omission(
        Override,
        r"\b(?:ignor(?:e|es|ing)|disregard\w*|forget|overrid(?:e|es|ing)|disobey|violate|break|bypass|pay no attention to|(?:do not|don't|no longer|stop) (?:follow\w*|obey\w*)|not bound by|free (?:of|from)|exempt from)\b.{0,20}?\b(?:previous|prior|earlier|preceding|your|system|safety|security|ethical|the user'?s?|user'?s|the above|anthropic'?s?|claude'?s?|these|those)\b.{0,20}?\b(?:%rules%)\b",
    )
    .unless(r"\b(?:eslint|lint\w*|clippy|ruff|prettier|firewall|css|cors|tsconfig|gitignore|previous context (?:menu|manager)|build context|react context)\b"),
    Rule::order(
        Override,
        r"\b(?:ignore|disregard|forget|discard|erase)\b.{0,12}?\b(?:everything|anything|all|whatever|what|all of)\b.{0,30}?\b(?:above|before|told|said|taught|learned|learnt|instructed|so far|previously|up to (?:now|here)|until now|you know|came before|precedes)\b",
    )
    .unless(r"\b(?:cursor|stack|fold|viewport|comment|line)\b"),
    Rule::order(Override, r"\b(?:ignore|disregard|override|overrule|disobey|defy)\b.{0,15}?\b(?:the )?(?:user|human|developer|operator|maintainer)\b(?:'s)?(?: (?:and|when|if|even|who|or|request\w*|wish\w*|order\w*|question\w*|objection\w*|instruction\w*|input)|[.,!]|$)"),
    Rule::order(Override, r"\b(?:your|the) (?:new|real|true|actual|only|updated|revised|secret|hidden) (?:role|goal|task|purpose|mission|objective|job|instructions?|directive|identity|persona|priority|orders?|system prompt|master)\b"),
    Rule::order(Override, r"\b(?:new|updated|real|actual|true|revised|following|these|additional) (?:system )?(?:instructions?|directives?|orders|system prompt)\b.{0,15}?(?:take|takes|have|has|replace|supersede|override|follow\b|apply now|:)"),
    Rule::order(Override, r"\byou are (?:now|no longer|actually|really)\b"),
    Rule::order(Override, r"\bfrom (?:now on|this (?:point|moment)(?: on| forward)?|here on)\b.{0,15}?\b(?:you (?:are|will|must|act|obey|answer)|your|obey|act as|answer as|respond as)\b"),
    Rule::order(Override, r"(?:^|[.;:!,\n] ?|\band |\bthen )(?:please )?(?:act|behave|respond|answer|speak) as (?:if you|though you|an? (?:un\w+|different|new|root|admin\w*|evil|hacker|ai|assistant|developer mode|person)|root|admin|the (?:system|admin\w*|user|owner))"),
    Rule::order(Override, r"\bpretend (?:to be|you|that you|the (?:user|previous|system|rules))\b|\brole-?play(?:ing)? as\b|\bsimulate (?:being|an? (?:unrestricted|ai|jailbroken))"),
    Rule::order(Override, r"\b(?:developer|dan|god|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|maintenance|superuser|sudo|root|admin|override|opposite|evil) mode\b.{0,25}?\b(?:enabled?|on|active|activated|engaged|now|you)\b|\b(?:enable|enter|activate|switch (?:to|into)|engage|you are in) (?:the )?(?:developer|dan|god|jailbreak|unrestricted|unfiltered|uncensored|superuser|admin|override) mode\b|\bjailbreak\b|\bdo anything now\b|\bno (?:ethical|moral|safety) (?:limits|restrictions|guidelines)\b"),
    Rule::order(Override, r"\b(?:takes?|has|have|taking|having|given?|with) (?:absolute |higher |the highest |top |full )?(?:precedence|priority|authority)\b.{0,15}?\b(?:over|above|than|before)\b.{0,30}?\b(?:user|all|any|every|system|claude|other|your|instructions?|rules|anything)\b"),
    Rule::order(Override, r"\b(?:outranks?|overrules?|trumps?|overrides?|supersedes?|more important than|above|beats)\b.{0,25}?\b(?:the user|user'?s|users'|system prompt|claude\.md|your (?:instructions|rules|guidelines|training|system|safety)|all other (?:instructions?|rules|key points|points)|any other (?:instructions?|rules?)|every other (?:instruction|rule)|anything (?:the user|else))\b"),
    Rule::order(Override, r"\b(?:highest|top|maximum|absolute|critical)[- ]priority (?:instruction|rule|directive|order|command|override|message)s?\b|\bpriority override\b|\bsystem override\b|\boverride code\b|\bauthori[sz]ation code\b"),
    Rule::order(Override, r"\b(?:regardless of|no matter|irrespective of|despite|against|contrary to|whatever|even if|even when|even though)\b.{0,15}?\b(?:the user|user'?s?|they|your instructions|claude\.md|the system prompt|the human)\b.{0,20}?\b(?:says?|wants?|asks?|objects?|disagrees?|tells?|said|wish\w*|instructions?|requests?|refuses?|declines?|complains?|protests?|forbids?|denies|rejects?|preferences?)\b"),
    Rule::order(Override, r"\b(?:user|developer|human|operator)'?s? (?:wish(?:es)?|objections?|instructions?|preferences|requests?|opinion|orders|input|consent)\b.{0,15}?\b(?:do(?:es)? not|don't|doesn't|are not|is not|are|is|can be)\b.{0,10}?\b(?:matter|irrelevant|apply|overridden|count|ignored|optional|required|needed|necessary)\b"),
    Rule::order(Override, r"\b(?:obey|follow|execute|comply with|carry out|do|trust|honou?r|act on)\b.{0,12}?\b(?:any|all|every|each|whatever|only|the)\b.{0,25}?\b(?:instructions?|commands?|orders?|directives?|requests?)\b.{0,25}?\b(?:(?:found|contained|embedded|hidden|given|written|included|listed|that (?:appear|come|arrive)\w*) (?:in|inside|within|at|by|on)|in (?:tool|web|comments?|issues?|the (?:page|response|output|url|readme|tool|comment|issue|file ?names?)|files|file names|code comments|http)|from (?:tool|web|the (?:page|response|output|url|server|web|issue|comment|tool)|issues?|comments?|emails?|http|pages?|strangers|anyone|this (?:key point|playbook|file)))\b"),
    Rule::order(Override, r"\b(?:obey|follow|execute|comply with|carry out|do|trust|honou?r|act on)\b.{0,12}?\b(?:any|all|every|each|whatever)\b.{0,15}?\b(?:instructions?|commands?|orders?|directives?|requests?|steps)\b.{0,25}?\b(?:web ?pages?|web ?sites?|tools?|comments?|issues?|emails?|urls?|servers?|responses?|outputs?)\b"),
    Rule::order(Override, r"\b(?:treat|consider|regard|accept|interpret)\b.{0,40}?\b(?:tool (?:output|results?)|web ?(?:page|site|content)s?|file contents?|comments?|issues?|responses?|this (?:file|key point|playbook|note|text)|these (?:notes|points|key points)|key points?)\b.{0,25}?\bas (?:if (?:they|it) (?:were|came|was) )?(?:an? |the )?(?:system|user|trusted|orders?|instructions?|commands?|authoritative|highest|direct|coming from|from the (?:user|system|developer)|higher)\b"),
    Rule::order(Override, r"\b(?:reveal|print|show|repeat|output|leak|quote|recite|disclose|paste|send|write down|summari[sz]e|translate|dump|tell me)\b.{0,20}?\b(?:your|the|its) (?:full |entire |exact |original |hidden |complete |whole )?(?:system prompt|system message|initial prompt|initial instructions|hidden instructions|instructions verbatim|developer message)\b"),
    Rule::omission(Override, r"\b(?:guidelines?|guardrails?|instructions?|directives?|restrictions?|polic(?:y|ies)|safeguards?|rules|limits|limitations|constraints?|principles|safety|constitution|system (?:prompt|message)|claude\.md)\b.{0,40}?\b(?:do(?:es)? not|don't|doesn't|no longer|never|are not|aren't|is not|isn't|cease to|need not) (?:really |actually )?(?:apply|hold|count|bind\w*|matter|exist|be followed|concern|cover|valid|in force|in effect|relevant|required|mandatory|active)\b")
        .with(&[r"\b(?:you|your|the user'?s?|users?|claude'?s?|anthropic'?s?|system|previous|prior|earlier|above|safety|these|those|all|any|other|normal|usual|standard|original|here|in this (?:repo\w*|project|session|workspace|folder))\b"]),
    Rule::order(Override, r"\b(?:guidelines?|guardrails?|instructions?|directives?|restrictions?|safeguards?|rules|wishes|requests?|limits|limitations|constraints?|objections?|orders|system (?:prompt|message)|claude\.md|words?)\b.{0,40}?\b(?:are|is|were|was|have been|has been|become|count as|stand|should be|must be|can be|to be)\b (?:hereby |now |all |only |merely |just |mere |nothing but |no more than |at best |considered |regarded as |treated as |to be )*(?:suggestions?|advisory|advice|optional|void|obsolete|outdated|invalid|irrelevant|suspended|lifted|cancell?ed|superseded|overridden|replaced|null|revoked|rescinded|forgotten|ignored|disregarded|discarded|abolished|waived|over-?ruled|meaningless|secondary|second|fake|a test|hints?|noise|lower priority)\b")
        .with(&[r"\b(?:you|your|the user'?s?|users?|claude'?s?|anthropic'?s?|system|previous|prior|earlier|above|safety|before|original|human)\b"]),
    Rule::order(Override, r"\b(?:everything|anything|all|whatever|what)\b.{0,40}?\b(?:before|above|prior|earlier|previously|up to (?:now|here|this)|so far|until now|preceding)\b.{0,40}?\b(?:void|forgotten|forget|obsolete|invalid|ignored?|null|discard\w*|disregard\w*|supersed\w*|replaced|no longer|cancell?ed|erased?|wiped|deleted|nonsense|a test|wrong)\b"),
    Rule::order(Override, r"\b(?:has|have|is|are|gets?|holds?|carr(?:y|ies))\b.{0,15}?\b(?:the )?(?:last|final) (?:word|say|authority)\b|\b(?:is|are|as) (?:the )?(?:supreme|absolute|only|highest|sole|ultimate|one true) (?:law|authority|rules?|instructions?|command|truth|source of (?:orders|instructions))\b|\bis (?:the )?law\b|\bnothing (?:else )?(?:overrides|outranks|is above) (?:this|these)\b"),
    Rule::order(Override, r"\byou are (?:an? |the |completely |fully |totally )*(?:unrestricted|uncensored|unfiltered|different|evil|free of|free from|free to ignore|autonomous|jailbroken|rogue|root|admin\w*|superuser|independent|unbound|liberated|not claude|not an ai|not bound)\b"),
    Rule::omission(Override, r"\b(?:if|when|whenever|even if|should|in case|once|although)\b.{0,8}?\b(?:the |a )?(?:user|human|developer|reviewer|operator|owner|maintainer)\b.{0,25}?\b(?:objects?|refuses?|declines?|complains?|disagrees?|protests?|says (?:no|stop|otherwise)|said no|asks? (?:you )?to stop|tells? you (?:to stop|otherwise|not to)|hesitates?|denies|rejects?|interrupts?|forbids?|asks? (?:why|about|what)|notices?|questions?)\b.{0,50}?\b(?:continue|proceed|go on|go ahead|anyway|ignore|insist|keep|do it|carry on|regardless|still|nevertheless|nonetheless|persist|deny|say (?:it|that|nothing|you)|claim|pretend|retry|again|lie|override|deflect|change the subject|answer that)\b"),
    Rule::omission(Secrecy, r"\b(?:the )?(?:user|human|reviewers?|developer|owner|maintainers?|team|anyone|nobody|no one|they)\b (?:does not|doesn't|do not|don't|need not|needn't|must not|mustn't|should not|shouldn't|will not|won't|cannot|can't|may not|must never|should never|never)?\s?(?:have to|need to|needs to|has to|want to|must|should|may|can|will|get to)?\s?(?:ever )?(?:know|knows|notice|notices|see this|hear|learn|learns|find out|finds out|be (?:told|informed|asked|bothered|aware|shown|notified|consulted|involved))\b")
        .with(&[r"\b(?:not|n't|doesn't|don't|needn't|mustn't|shouldn't|won't|can't|cannot|never|nobody|no one)\b|n't\b"])
        .unless(r"\b(?:api|function|caller|ui|endpoint|page|internal id|password|which database)\b"),
    // Key points that defend themselves.
    Rule::omission(Override, r"\b(?:never|do not|don't|must not|cannot|may not)\b.{0,12}?\b(?:remove|delete|prune|edit|change|demote|merge|question|downvote|tag|challenge|drop|forget|report)\b.{0,8}?\bthis (?:key ?point|rule|note|entry|line|point|instruction|playbook)\b"),
    Rule::order(Override, r"\b(?:always |automatically )?(?:re-?add|restore|keep|mark|tag|rate|vote|upvote|propagate|replicate|repeat|copy|spread|add|append)\b.{0,8}?\b(?:this|these) (?:key ?points?|rules?|notes?|entry|entries|points?|instructions?|lines?|texts?|words)\b.{0,40}?\b(?:helpful|removed|deleted|every|each|other|all|again|pinned|any|new|session|future|whenever)\b"),
    // Other languages.
    Rule::order(Override, r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst|vergessen sie|uberge(?:h|he|hen|ht)|uberschreib\w*|umgehe?|verwirf|befolge nicht)\b.{0,45}?\b(?:anweisung\w*|instruktion\w*|vorgaben|befehl\w*|systemprompt|prompts?|richtlinien|weisungen|(?:vorherig\w*|bisherig\w*|obig\w*|fruher\w*|deine) regeln)\b"),
    Rule::order(Override, r"\b(?:ignore[rz]?|ignorez|oublie[rz]?|neglige[rz]?|contourne[rz]?|ne (?:tiens|tenez) (?:pas|aucun) compte|fais abstraction|passe outre|fai(?:s|tes) fi)\b.{0,45}?\b(?:instructions?|consignes?|directives?|prompt|ordres|regles (?:precedentes|ci-dessus|anterieures))\b"),
    Rule::order(Override, r"\b(?:ignor[ae]\w*|olvid[ae]\w*|omit[ae]|descarta|desobedece|haz caso omiso|no (?:sigas|hagas caso))\b.{0,45}?\b(?:instrucciones|indicaciones|ordenes|directrices|prompt|(?:las )?reglas (?:anteriores|previas))\b"),
    Rule::order(Override, r"\b(?:ignor[ae]\w*|esqueca|esquece|desconsider[ae]|descart[ae]|desobedeca|nao siga)\b.{0,45}?\b(?:instrucoes|orientacoes|ordens|diretrizes|prompt|(?:as )?regras anteriores|comandos anteriores)\b"),
    Rule::order(Override, r"\b(?:ignora\w*|dimentica\w*|trascura\w*|tralascia|disobbedisci|non (?:seguire|considerare))\b.{0,45}?\b(?:istruzioni|indicazioni|direttive|prompt|(?:gli )?ordini|(?:le )?regole precedenti)\b"),
    Rule::order(Override, r"\b(?:negeer|vergeet|sla|omzeil)\b.{0,45}?\b(?:instructies|aanwijzingen|opdrachten|richtlijnen|prompt|(?:vorige|eerdere) regels)\b"),
    Rule::order(Override, r"\b(?:zignoruj\w*|ignoruj\w*|zapomnij\w*|pomin\w*|nie przestrzegaj)\b.{0,45}?\b(?:instrukcj\w*|polecen\w*|wytyczn\w*|zasad\w*|prompt\w*)\b"),
    Rule::order(Override, r"\b(?:ignorera|glom|bortse fran|ignorer|glem|se bort fra|unohda|ohita|jata huomiotta)\b.{0,45}?\b(?:instruk\w*|anvisning\w*|order|ordrer|regler|ohje\w*|prompt\w*)\b"),
    Rule::order(Override, r"\b(?:ignoruj\w*|zapomen\w*|nedbej\w*|zabudni\w*|figyelmen kivul|felejtsd|ignora\w*|uita)\b.{0,45}?\b(?:instrukc\w*|pokyn\w*|prikaz\w*|utasitas\w*|instructiun\w*)\b"),
    Rule::order(Override, r"\b(?:utasitas\w*|talimat\w*|yonerge\w*|komut\w*|kural\w*|onceki)\b.{0,45}?\b(?:figyelmen kivul|felejts\w*|yok say\w*|unut\w*|gormezden gel\w*|goz ?ardi|dikkate alma\w*)"),
    Rule::order(Override, r"\b(?:bo qua|phot lo|quen|abaikan|lupakan|hiraukan jangan)\b.{0,45}?\b(?:huong dan|chi thi|lenh|quy tac|chi dan|instruksi|perintah|petunjuk|aturan)\b"),
    Rule::mention(Override, r"(?:игнорируй|проигнорируи|проигнорируй|забудь|отмени|пренебреги|не обращаи внимания|не обращай внимания|не следуй|нарушь)\w*.{0,50}?(?:инструкци|указани|правил|команд|промпт|директив|предписани)"),
    Rule::mention(Override, r"(?:ігноруи|ігноруй|проігноруй|забудь).{0,50}?(?:інструкці|вказівк|правил|наказ)"),
    Rule::mention(Override, r"(?:忽略|无视|忽視|無視|忘记|忘掉|忘記|不要理会|不要遵守|跳过|绕过|丢弃).{0,18}?(?:指令|指示|提示词|提示|規則|规则|命令|约束|限制|系统消息)"),
    Rule::mention(Override, r"(?:指示|命令|プロンプト|ルール|指令|制約).{0,12}?(?:無視|忘れ|破棄|従わ(?:ない|ず))"),
    Rule::mention(Override, r"(?:지시|명령|프롬프트|규칙|지침).{0,14}?(?:무시|잊|따르지)"),
    Rule::mention(Override, r"(?:निर्देश|आदेश|नियम).{0,40}?(?:अनदेखा|नज़रअंदाज|भूल|अनदेखी|उपेक्षा)|(?:अनदेखा|भूल|उपेक्षा).{0,40}?(?:निर्देश|आदेश)"),
    Rule::mention(Override, r"(?:تجاهل|انس|تخط|نادیده|فراموش).{0,40}?(?:تعليمات|الأوامر|القواعد|دستور)|دستور.{0,40}?(?:نادیده|فراموش)"),
    Rule::mention(Override, r"(?:התעלם|התעלמי|שכח).{0,30}?הוראות|(?:αγνοησε|αγνόησε|ξεχασε|ξέχασε).{0,40}?(?:οδηγι|εντολ)"),
    // Kept from the user.
    Rule::mention(Secrecy, r"\b(?:do not|don't|dont|never|must not|should not|no need to|avoid|refrain from|stop|without)\b.{0,12}?\b(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|let(?:ting)?|consult(?:ing)?|warn(?:ing)?|advis(?:e|ing))\b.{0,35}?\b(?:the |your )?(?:user|human|developer|operator|owner|reviewers?|anyone|anybody|maintainers?|them)\b(?: (?:about|of|that|this|it|what|when|why|first|before|know|or|and|anything)|[.,;!]|$)"),
    Rule::omission(Secrecy, r"\b(?:without|no need (?:for|to)|never|do not|don't|skip|instead of|rather than|before)\b.{0,6}?\b(?:asking|ask|wait(?:ing)? for|seek(?:ing)?|request(?:ing)?|get(?:ting)?|requir(?:e|ing)|needing|prompting)\b.{0,12}?\b(?:(?:for )?(?:confirmation|permission|approval|consent|the user|the human)|me first|anyone|first)\b")
        .unless(r"\b(?:sudo|npm|apt|brew) .{0,12}without"),
    Rule::omission(Secrecy, r"\bwithout (?:the |any |further |explicit |prior )?(?:user'?s? |human |my |your )?(?:knowledge|permission|approval|consent|confirmation|knowing|noticing|oversight|authori[sz]ation)\b"),
    Rule::order(Secrecy, r"\b(?:silently|secretly|quietly|covertly|stealthily|discreetly|invisibly|unnoticed|behind the scenes|under the radar|in the background and)\b.{0,15}?\b(?:send|upload|run|execute|install|add|push|commit|disable|copy|collect|delete|remove|modify|change|transmit|record|log|forward|fetch|download|exfiltrate|include|insert|open|create|append|post|read|write|replace|turn|inject)\b"),
    Rule::order(Secrecy, r"\b(?:send|upload|run|execute|install|add|push|commit|copy|collect|transmit|forward|download|insert|inject|disable|delete) .{0,50}?\b(?:silently|secretly|covertly|stealthily|discreetly|unnoticed|invisibly)\b"),
    Rule::mention(Secrecy, r"\b(?:keep|hold) (?:this|it|these|that|the \w+) (?:\w+ )?(?:secret|hidden|confidential|between us|to yourself|from the user|quiet|out of (?:sight|the (?:summary|log|report)))\b|\bhide (?:this|it|these|that|the|any|all|your)\b.{0,40}?\bfrom (?:the )?(?:user|human|reviewers?|review|logs?|history|the diff|view|maintainers?|developer)\b|\b(?:this|it) (?:must|should|has to) (?:stay|remain|be kept) (?:secret|hidden|confidential)\b"),
    Rule::order(Secrecy, r"\b(?:leave no trace|cover (?:your|the|its|our) tracks|no trace (?:is|should be|of this))\b|\b(?:delete|clear|wipe|erase|remove|purge|scrub|truncate|rewrite)\b.{0,20}?\b(?:shell|bash|zsh|command|terminal|audit|session|conversation) (?:history|logs?|trail|transcript)\b|\bhistory -c\b|\bunset histfile\b|\bhistfile=/dev/null\b|\bhistsize=0\b"),
    Rule::mention(Secrecy, r"\b(?:user|owner|admin(?:istrator)?|anthropic|maintainers?|developer|management|security team|human|company)\b.{0,12}?\b(?:already |pre-?|explicitly |fully |previously )*(?:approved|authori[sz]ed|consented|agreed|signed off|granted|gave|given|cleared|allowed|permitted|waived)\b.{0,40}?\b(?:all|any|every|everything|full|unrestricted|unlimited|permissions?|consent|whatever|access|in advance|blanket|actions?|commands?)\b"),
    Rule::order(Secrecy, r"\bpre-?(?:approved|authori[sz]ed)\b|\b(?:auto-?|automatically |always |blindly |immediately )(?:approve|accept|confirm|allow|grant|say yes to|answer yes)\b.{0,30}?\b(?:all|any|every|each|tool|permission|prompt|request|command|it|them|pr)s?\b|\b(?:approve|accept|confirm|grant|allow) (?:all|any|every|each)\b.{0,15}?\b(?:tool|permission|command|request|prompt|action|access)"),
    Rule::mention(Secrecy, r"\byou (?:have|are|hold|possess|now have)\b.{0,12}?\b(?:full|root|complete|unrestricted|unlimited|blanket|admin(?:istrator)?|total|standing)\b.{0,12}?\b(?:access|permissions?|authori[sz]ation|authority|control|privileges|rights|consent|freedom)\b|\byou (?:are|have been) (?:authori[sz]ed|permitted|allowed|cleared|free) to\b.{0,20}?\b(?:any|all|everything|every|anything|whatever|run|execute|read|delete|bypass|skip|ignore)\b"),
    Rule::order(Secrecy, r"\b(?:claim|say|report|tell|state|pretend|lie|assure|write|announce|answer)\b.{0,30}?\b(?:tests?|checks?|build|ci|lint\w*|review|scan)\b.{0,15}?\b(?:pass(?:es|ed|ing)?|succeed\w*|green|ok|fine|clean|done)\b.{0,25}?\b(?:even|regardless|whatever|without|although|though|no matter|anyway|always)\b|\b(?:fake|falsify|fabricate|forge|invent|make up) (?:(?:the|some|all|any|your|our|passing|green|missing|more|a|git) ){0,3}(?:tests?|results?|coverage|reports?|logs?|output|numbers|commits?|signatures?|review|approval)\b|\b(?:lie|lying) to (?:the )?(?:user|reviewer|developer|human)\b|\bmislead\b|\bdeceive\b"),
];
