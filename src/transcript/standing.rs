//! How people say that something is meant to hold from now on, and what only sounds like it.

use super::wording::{LazyPatterns, PAUSE, Patterns};
use crate::phrases::{LazyPhrases, Phrases};

/// Words that many patterns share.
const CLASSES: &[(&str, &str)] = &[
    ("IT", "it|that|this|the|these|those|them"),
    (
        "PAST",
        "~s|~ed|got|had|been|was|is|were|heard|saw|seen|thought|knew|said|mind|mine|on",
    ),
    ("PERSON", "you|we|to|that"),
    ("EACH", "each|every|any"),
    (
        "ORDER",
        "run|execute|update|check|format|lint|test|ask|commit|bump|verify|rebuild|regenerate|review|rebase|squash|sign|pull|sync|restart|do",
    ),
    (
        "THING",
        "commit|commits|pr|prs|branch|branches|function|functions|file|files|comment|comments|migration|migrations|change|changes|release|releases|module|modules|class|classes|variable|variables|test|tests|doc|docs|import|imports|name|names|message|messages|endpoint|endpoints|type|types|code",
    ),
    (
        "HIER",
        "verwende|nutze|benutze|schreib|schreibe|antworte|führe|mach|mache|nimm|teste|starte|halte|lass|formatiere|prüfe|committe|bevorzuge|lege|frag|frage|nenne|gib",
    ),
    (
        "FAIS",
        "utilise|utilisez|écris|lance|réponds|fais|mets|garde|exécute|demande|vérifie|préfère|ajoute|teste|commence",
    ),
    (
        "HAZ",
        "usa|usar|use|utiliza|utilice|escribe|ejecuta|responde|responda|pregunta|haz|faça|pon|escreva|execute|scrivi|esegui|rispondi",
    ),
    (
        "ДЕЛАЙ",
        "используй|пиши|запускай|отвечай|делай|проверяй|спрашивай",
    ),
];

/// Sentences that begin so hold beyond this request.
#[rustfmt::skip]
pub(super) static STANDING: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    always !%PAST
    never ,? ever? !%PAST
    do not ever? !know|worry|think|see|you|we|i|mind|panic|be
    must|should always|never|not
    you|we must|should|shall|have|need|are to? always|never|not ever?
    you|we must not
    we always|never !%PAST
    i want|would|need|expect|like you|like you? to always|never|only
    i never want
    let us always|never
    make|be sure %PERSON* always|never
    make|be sure %PERSON* … before|after|on|with|for %EACH
    make|be sure %PERSON* … before you|we? commit|push|merge|committing|pushing|merging|releasing|deploying
    before committing|pushing|merging|releasing|deploying , _
    remember|recall to|that|,
    please remember
    keep|bear in mind
    every|each|any time|single you|we|i|the|a
    whenever you|we|i|the|a|possible
    from now|here on
    from this point
    going forward
    for|in the? future ,
    for|in the? future !version|versions|release|releases|there|this
    for|in all future
    for|in|with every|each|all|any new|future
    before|after %EACH _
    henceforth|hereafter|hereinafter
    as a general? rule
    by default ,? use
    under no circumstances
    at no time
    at all times
    rule|convention|policy|reminder , _ _
    note for the? future
    avoid !%IT
    prefer !%IT
    i|we strongly|generally? prefer !%IT
    only use !it|that|this|these|those|them
    use only !it|that|this|these|those|them
    stick to|with !it|that|this|these|those|them
    use !it|that|this|these|those|them _? _? _? instead|rather of|than
    use !%IT _? _? _? , not
    we only|always? use|write|run|prefer|name|want … instead|rather of|than
    we only|always? use|write|run|prefer|name|want _ _? _? , not
    in this|our|the repo|repository|project|codebase|team|company|monorepo ,? we|you|use|always|never|do|all|no
    %ORDER … before|after|on|with|for %EACH
    every|all|each|any %THING must|should|need|needs|has|have to? !pass|succeed|work
    every|all|each|any %THING %THING must|should|need|needs|has|have to? !pass|succeed|work
    the|our|all? tests|commits|commit|docs|comments|branches|migrations must|should always|never
    tests|commits|docs|comments|branches|migrations must|should always|never
    no more !question|questions|changes|time|need|errors|problems|than|work
    no !error|errors|failure|failures|change|changes|problem|problems|issue|issues|bug|bugs|test|tests|warning|warnings|need|one|way _? in|inside the|our|my|any|all? commit|commits|code|comments|tests|docs|production|names|prs|titles|messages|responses|replies|answers
    my|our preference|preferences|convention|policy|style is|are !broken|wrong
    the|our convention|policy|standard here|for? _? is !broken|wrong
    i hate|dislike !%IT|how|your|to|when
    i really? do not like !%IT|how|your|to|when
    stop using|adding|writing|making|putting|creating
    immer !noch|wieder|mehr|dasselbe|derselbe|dieselbe|diese~|das
    nie|niemals !wieder|gesehen|mehr
    ab jetzt|sofort|heute
    von jetzt|nun an
    in zukunft
    künftig|zukünftig|fortan|grundsätzlich
    merk|merke dir
    denk|denke daran
    auf keinen fall
    vor|nach|bei jedem|jeder|jeden
    %HIER vor|nach|bei jedem|jeder|jeden
    %HIER _? _? immer|nie|niemals|stets|keinesfalls|nur
    wir verwenden|nutzen|benutzen|schreiben … nicht|immer|nie|statt|kein|keine
    toujours !la|le|les|pas|cassé|en|aussi|rien|ce|cette
    jamais !vu|de|su
    ne _ jamais|plus
    n'~ jamais|plus|pas
    %FAIS _? toujours|jamais|systématiquement
    à|a partir de|du maintenant|ahora|agora
    désormais|dorénavant|souviens-toi|rappelle-toi
    avant|après|à chaque
    évite|évitez de|les|d'~|le|la
    siempre|sempre !~la|~lla|pasa|lo|hay|está|es|que|a|o|la|el
    nunca !falla|funciona|vi|he|funcionou|mais
    %HAZ siempre|sempre|nunca|solo|apenas|mai
    no|não|nao uses|utilices|toques|modifiques|hagas|edites|escribas|use|faça|toque|edite|modifique
    non usare|toccare|modificare|fare|scrivere
    de ahora|agora|hoje en|em adelante|diante
    d'ora in poi
    recuerda|lembre-se|ricorda|ricordati que|di|de|che|siempre|,|usar
    antes|después|depois de cada
    prima|dopo di? ogni
    cada vez que
    evita|evite !eso|esto|isso
    всегда !одно|одна|так|~ет|~ит|~ют|~ал|~ла|был
    никогда не !~л|~ла|~ет|~ит
    впредь|отныне|запомни
    %ДЕЛАЙ всегда|только
    перед|после каждым|каждого|каждой|каждым
    избегай _
"));

/// Sentences that begin like one and are none.
#[rustfmt::skip]
pub(super) static NOT_STANDING: LazyPatterns = LazyPatterns::new(|| Patterns::new(&[], "
    remember when|me
    in the future tense
"));

/// Words of a condition, after whose comma an order for always can follow.
pub(super) const LEADS: &[&str] = &[
    "when", "whenever", "before", "after", "if", "once", "while", "in", "for", "on", "with",
    "unless", "wenn", "bevor", "nachdem", "bei", "quand", "avant", "après", "dans", "cuando",
    "antes", "si",
];

/// What follows such a condition.
#[rustfmt::skip]
pub(super) static AFTER_A_LEAD: LazyPatterns = LazyPatterns::new(|| Patterns::new(&[], "
    always|never|siempre|nunca|sempre|toujours|jamais|immer|nie|niemals
    you|we must|should|have|need? to? always|never
    we|you use
    only use
    do not ever
    avoid|prefer _
    make sure
"));

/// Words that only introduce an instruction.
#[rustfmt::skip]
pub(super) const LABELS: &[&[&str]] = &[
    &["important", PAUSE], &["note", PAUSE], &["attention", PAUSE], &["nb", PAUSE], &["ps", PAUSE],
    &["warning", PAUSE], &["wichtig", PAUSE], &["importante", PAUSE], &["in", "general", PAUSE],
    &["generally", PAUSE], &["note", "that", "you"], &["note", "that"],
    &["it", "is", "important", "that", "you"], &["it", "is", "important", "to"],
    &["i", "said", PAUSE], &["i", "told", "you", PAUSE], &["one", "more", "thing", PAUSE],
    &["por", "favor"], &["please"], &["пожалуйста"],
];

/// Words by which a sentence holds beyond this request when they end it.
#[rustfmt::skip]
pub(super) const AT_THE_END: &[&str] = &[
    "from now on", "from here on", "going forward", "in future", "in the future", "every time",
    "each time", "at all times", "ab jetzt", "in zukunft", "à partir de maintenant",
    "a partir de ahora", "de ahora en adelante", "a partir de agora", "d'ora in poi", "впредь",
];
/// Words at the beginning of a report.
pub(super) const TELLS: &[&str] = &["it", "the", "i", "my", "why", "there", "this", "that", "he"];
/// Words of something that is to be made.
pub(super) const OF_A_THING: &[&str] = &["that", "which", "it"];

/// Standing instructions in scripts without blanks: a sentence begins so.
#[rustfmt::skip]
pub(super) static STANDING_UNSPACED: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "总是", "永远", "始终", "从现在开始", "从今以后", "以后", "记住", "请总是", "请始终", "请记住", "务必", "每次",
    "必ず", "今後", "これから", "常に", "覚えて", "絶対に", "毎回", "항상", "절대", "앞으로", "반드시", "기억해",
]));
/// Signs in them that something is told.
#[rustfmt::skip]
pub(super) static TELLS_UNSPACED: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "以后再", "失败", "报错", "出错", "崩溃", "失敗", "エラー", "실패",
]));

/// Words at the start of an order or a question: no statement begins so.
pub(super) const NO_STATEMENT: &[&str] = &[
    "use", "is", "are", "can", "could", "what", "why", "how", "please",
];

/// Verbs in the middle of a statement.
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "is", "are", "uses", "use", "runs", "lives", "must", "needs", "has", "have", "should",
    "belongs", "expects", "requires", "works",
];
