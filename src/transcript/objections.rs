//! How people say that something was done wrongly, and what only sounds like it.

use super::wording::{LazyPatterns, Patterns};
use crate::phrases::{LazyPhrases, Phrases};

/// Words that many patterns share.
const CLASSES: &[(&str, &str)] = &[
    ("THAT", "that|this|it|these|those|they"),
    ("BE", "is|was|are|were|looks|seems|feels|sounds"),
    ("DO", "do|does|did|will|would|can"),
    (
        "VERY",
        "still|just|all|completely|totally|simply|also|clearly|really|so|very|quite|now|entirely|definitely|obviously|absolutely|way|even|again|at|plain",
    ),
    (
        "WORK",
        "work|compile|build|pass|run|start|help|fix|solve|match|parse|install|make|look|belong",
    ),
    (
        "BAD",
        "wrong|incorrect|broken|backwards|nonsense|rubbish|garbage|bad|terrible|useless|off|mistaken",
    ),
    (
        "FAIL",
        "fail|fails|failing|failed|crash|crashes|crashing|broken|wrong|red|errors|erroring|breaks|throws|hangs|red|complains|complaining",
    ),
    (
        "HARM",
        "broke|breaks|deletes|deleted|removes|removed|destroys|destroyed|ruins|ruined|overwrites|overwrote|loses|lost|crashes|crashed|fails|failed|contradicts",
    ),
    (
        "HARMED",
        "deleted|removed|dropped|broke|broken|forgot|forgotten|missed|ignored|misread|misunderstood|misinterpreted|skipped|overwrote|overwritten|duplicated|lost|messed|screwed|hardcoded|confused|mixed|reverted|wiped|erased|ruined|destroyed|left|failed|invented|hallucinated",
    ),
    (
        "DID",
        "~ed|put|ran|wrote|made|set|chose|took|built|sent|did|used",
    ),
    ("UNDO", "undo|revert|scrap|discard|cancel|redo|rollback"),
    (
        "NOW",
        "please|now|immediately|and|right|completely|again|without|with|first|change|changes|edit|edits|for",
    ),
    // Of other languages.
    ("DAS", "das|dies|es|so"),
    (
        "GEHT",
        "geht|funktioniert|klappt|passt|stimmt|kompiliert|läuft|hilft",
    ),
    ("NOCH", "immer|noch|so|auch|leider|ja|jetzt|ganz|einfach"),
    ("ÇA", "ça|cela|ca|il|elle"),
    ("MARCHE", "marche|fonctionne|compile|passe"),
];

/// Objections in themselves.
#[rustfmt::skip]
pub(super) static OBJECTS: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    %THAT %BE %VERY* %BAD
    %UNDO|wrong|incorrect ,
    %THAT %BE %VERY* a|an|the %VERY* wrong|bad
    %THAT %BE %VERY* a|an|the %VERY* mistake|opposite|reverse ,|of|from
    %THAT was|were not? supposed|meant to
    %THAT %BE %VERY* not %VERY* right|correct|what|it|how|true|working|good|helpful|acceptable|where|why|supposed|enough|like|meant|intended|fixed
    %THAT %BE not the right|correct|one|way|file|thing|place|point|problem|bug|question|same|kind
    %THAT %BE not a good
    %THAT %BE not the _ _? i|we|you|that
    %THAT is|are still %FAIL|there|the|not
    %THAT still %FAIL|gives|shows|says|prints|the|not|does|is|has
    %THAT %DO %VERY* not %VERY* %WORK
    %THAT has|have? %HARM
    does|do|did not %WORK
    not working|fixed|compiling|passing|building ,|still|either|anymore|at|again
    not quite ,|right|what|it|there|correct
    not right|correct|what|like|again|good
    not that|this ,|one|file|way
    not the|in|on _ _? , the|in|on|but
    still %VERY* not working|fixed|right|correct|there|what|it|compiling|passing|building|good|enough|quite|running
    still does|do|is|has|have|did not
    still %VERY* %FAIL|same|get|getting|gets|got|see|seeing|throwing
    still the|a|an|one|two|three same|wrong|error|errors|old|problem|issue
    the|your|my|our|all|some|two|three|both|tests|test|build|ci|lint|i|we _? _? still %FAIL|get|see
    the|your|my|our|all|some|two|three|both|tests|test|build|ci|lint _? _? still do|does|is|are not
    same|identical error|problem|issue|result|failure|message|bug ,|again|as|here|still
    the same error|problem|issue|failure|message|bug ,|again|as|here|still
    your _? _? %BE %VERY* not? %BAD|right|correct
    your _? _? do|does|did not %WORK
    your _? _? broke|breaks|fails|failed|crashes
    wrong|incorrect !password|passwords|credentials|input|inputs|answer|answers|login|type|argument|token|value|should|format|values ,
    wrong !password|input|login|answer|credentials _ ,
    you are|were %VERY* wrong|mistaken|missing|ignoring|breaking|confusing|misunderstanding|misreading
    you are|were %VERY* ~ing the|in|on|at the? wrong
    you still have|do|did|are not
    you misunderstood|misread|misinterpreted
    stop ,|it|that|this|please|doing|right|immediately|~ing
    quit it|~ing
    enough ,|of|already
    %UNDO it|them|everything|all|your
    %UNDO that|this|these|those ,|%NOW
    %UNDO the last|latest|previous? change|changes|edit|edits|commit
    do not !worry|mind|know|forget|let|think|like … that|this|it|these|those ,|again|please|anymore
    let us not do|use|go|change|that|this
    can|could|would|will you please? not|undo|revert
    never do|try that|this
    leave … alone|untouched|unchanged
    i do not think %THAT|you
    i did|do not ask|say|mean|tell|like
    i never asked|wanted|said|told
    i told you not
    der|die|das|es|mein|meine|dein|deine _? _? ist|sind|geht|schlägt|läuft immer|noch noch? rot|nicht|kaputt|falsch|fehl
    das|dies|es|so|die|der _? _? ist|war|sieht|sind %NOCH* falsch|verkehrt|kaputt|quatsch|unsinn
    %DAS ist|war|sieht %NOCH* nicht richtig|korrekt|das|was|so|gut|der|die|ganz|gemeint|gewollt
    %DAS %GEHT %NOCH* nicht
    %GEHT %NOCH* nicht
    so war|ist|geht|will|wollte %DAS? ich? nicht
    immer|noch immer? noch? kaputt|falsch|nicht|der|die|das|derselbe|dieselbe|rot
    du hast|solltest|sollst|hättest … gelöscht|vergessen|falsch~|entfernt|übersehen|missverstanden|kaputt|geändert|überschrieben|nicht|ignoriert
    du sollst|solltest _? _? _? nicht
    hör|höre auf
    stopp|halt ,
    mach|mache das|es|alles|bitte alles? rückgängig
    lass das ,|sein|bitte
    nicht so|das|die|den ,
    falsch|falsche|falscher|falsches _? ,
    das wollte|meinte|sagte ich
    ich wollte … nicht|kein~|sondern
    ich wollte _ _ , nicht|kein~|sondern
    ich wollte _ , nicht|kein~|sondern
    ich meinte|sagte|habe gesagt|doch|das|den|die
    c'est|c'était encore|toujours|tout|juste? faux|incorrect|mauvais|cassé|nul
    c'est|c'était pas !grave|mal|urgent|nécessaire|un|la|important|fini
    ce n'est|n'était pas !grave|mal|urgent|nécessaire|un|la|important|fini
    %ÇA ne? %MARCHE toujours? pas|plus|toujours
    ne? %MARCHE toujours? pas
    toujours|encore la|le même
    toujours pas
    tu as|n'as _? _? supprimé|oublié|cassé|effacé|ignoré|modifié|enlevé|pas|mal|mauvais
    pas ça|comme|celui|celle|le ,|ça
    arrête ,|de|ça
    annule ,|ça|ce|cela|tout|la|le|ton|tes
    j'ai dit|demandé
    je voulais|veux dire
    je voulais … pas
    mauvais|mauvaise _ ,
    así no
    eso|esto|así|está|esta no? está|esta? mal|equivocado|así
    eso|esto no es|era lo|correcto|así|el|la
    no funciona|compila|sirve
    no es|era lo|el|la|eso|así|correcto
    sigue fallando|sin|igual|roto|mal
    todavía|aún|ainda|ancora no|não|non
    te equivocaste|dije|pedí
    borraste|olvidaste|eliminaste|rompiste|apagou|quebrou
    deshaz|revierte|desfaça|desfaz ,|eso|esto|todo|isso|tudo|o|el|la|los
    detente|pare|fermati ,
    não funciona|compila|era|foi
    não é isso|o|a|assim
    isso|isto|está está|é|não não? errado|certo|é|está
    está|esta mal|errado
    isso não está|funciona|era
    você|voce apagou|esqueceu|quebrou|removeu|ignorou|não
    non funziona|compila
    è|era sbagliato
    questo|quello è|era sbagliato
    non è|era quello|così|giusto|corretto
    hai cancellato|dimenticato|rotto|sbagliato
    sbagliato ,
    annulla ,|tutto|questo|quello
    не работает|компилируется|запускается|собирается|так|то|правильно
    это|всё|все неправильно|неверно|не так|то|работает|правильно
    это|всё|все неправильно|неверно
    неправильно|неверно ,
    всё|все ещё|еще не|падает
    ты удалил|забыл|сломал|изменил|проигнорировал
    отмени|верни|стоп|хватит|прекрати
    опять|снова не|та|ошибка|падает
    я просил|говорил|имел|хотел
    werkt niet
    nie działa
"));

/// Objections if nothing near them says that all is well.
#[rustfmt::skip]
pub(super) static MAY_OBJECT: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    the|my|our _ _? _? %BE %VERY* wrong|incorrect|mistaken
    you have? just? %VERY* %HARMED !nothing|none|no|it|out
    you have? just? %VERY* left out
    you have? just? %VERY* %DID … wrong|without|again
    you did not !need|have|miss|break|forget|make
    you should|could not? have|be
    you should|could|must|may|can not
    you were not? supposed|told|asked|meant
    you keep|kept ~ing
    i already? said !yes|it|before|ok|okay|so|thanks
    i already? told|asked you
    i only|just? asked for|you
    i only|just asked|wanted|said|meant|need !to
    i meant !to
    i wanted … , not
    i do|did not want !to
    i do not want to use|see|have
    why did|would you !choose|pick|decide|prefer|recommend|suggest|think|say|ask
    why are you still? ~ing
    put|change|set|turn|move|bring|roll|switch it|that|this|the|your|everything … back
    go|switch|change back? to what|how
    go|switch back to the|my|our previous|old|original|earlier|last|first|version
    actually ,? no|do|let|use|we|make|go|instead|put|keep|leave|undo|revert|not|drop|remove|change|write
    actually ,? i want|wanted|meant|said|need|prefer
    actually ,? it should|must
    rather ,
    wait|whoa|hold|hang on? , %THAT|you !can|could|should|would|works|will|might|may|need|seems
    eigentlich ,
    warum hast du
    pourquoi as tu
    pourquoi as-tu|tu
    en fait ,
    quería … no
    por qué has|borraste|cambiaste
"));

/// Objections when they are all that was typed: what is not to be done, and what was done,
/// told without a word of praise or a request.
#[rustfmt::skip]
pub(super) static OBJECTS_ALONE: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    do not !know|worry|forget|be|bother|mind|stop|hesitate|see|need|have|care|get|understand|you|we|i|really|think|let|feel|remember|panic|rush|believe
    you have? just? changed|added|moved|renamed|edited|committed|pushed|put|wrote|made|used|replaced|rewrote|touched|installed|created
"));

/// Objections so plain that they need not come first.
#[rustfmt::skip]
pub(super) static OBJECTS_LATER: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    that|this|it %BE %VERY* wrong|incorrect
    that|this|it %BE not what|it|right|correct
    not what i
    you misunderstood|misread
    i did|do not ask
    i told you
    stop doing
    das|es ist|war %NOCH* falsch
    ce n'est pas ce
    no es lo que
    это неправильно
"));

/// Words by which a question can be an objection.
pub(super) const REPROACHES: &[&str] = &[
    "why", "can", "could", "would", "will", "warum", "pourquoi", "por",
];
/// Words for no, before a pause or at the end.
pub(super) const NO: &[&str] = &[
    "no", "nope", "nah", "noo", "nooo", "nein", "nee", "non", "não", "нет", "hayır", "nej",
];

/// What may follow a no without a pause.
#[rustfmt::skip]
pub(super) static AFTER_NO: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    that|this|it|you|i|we|do|not|the|wait|use|no|don't|so|das|pas|eso|así|isso|questo|quello|не
"));

/// Clauses that say that all is well.
#[rustfmt::skip]
pub(super) static APPROVES: LazyPatterns = LazyPatterns::new(|| Patterns::new(CLASSES, "
    great|perfect|excellent|awesome|lovely|fine|lgtm|good|nice
    %THAT|all|everything|looks %BE? %VERY* great|perfect|excellent|awesome|lovely|fine|good|nice|okay|ok
    %THAT|everything now? works ,|great|well|now|for|fine|perfectly
    that|this|it|you is|are right|exactly|all|it|enough|correct
    works for|great|well|now|fine
    go on|ahead
    carry on
    keep going|it|that|this|them
    please? continue|proceed
    continue|proceed
    ship|commit it|as|this|that
    you can keep|leave|commit|merge
    i really? like|love it|that|this|them
    well done
    danke|passt|perfekt|super|prima
    alles gut|ok|okay|klar|bestens
    das passt|ist gut|super|ok|okay|prima|perfekt
    mach|mache weiter
    weiter so|machen
    merci|parfait
    c'est bon|bien|parfait
    très bien
    gracias|perfecto|perfeito|perfetto|grazie|obrigado|obrigada
    está bien|perfecto|ótimo|bom
    tudo bem|certo
    va bene
    спасибо|хорошо|отлично
    всё|все хорошо|отлично|правильно|верно
"));

/// What takes the edge off a no.
#[rustfmt::skip]
pub(super) static HARMLESS: LazyPatterns = LazyPatterns::new(|| Patterns::new(&[], "
    thanks|thank
    no need|problem|worries|thanks|rush
    nothing ,|else|more
    we|i are|am done|good|fine
    not now|yet|needed|necessary|really
"));

/// Words after which the opposite follows.
pub(super) const BUT: &[&str] = &[
    "but", "however", "aber", "mais", "pero", "mas", "ma", "но", "except",
];

/// Objections in scripts without blanks: a sentence begins so.
#[rustfmt::skip]
pub(super) static OBJECTS_UNSPACED: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "不对", "不是", "错了", "错误的", "不行", "停下", "停止", "撤销", "撤回", "还原", "不要", "还是不",
    "还是错", "还是报错", "仍然", "你删", "你改错", "你忘", "你弄", "你搞", "这样不", "这不对", "这是错",
    "搞错", "弄错", "改回", "为什么你", "我说的", "我要的", "这不是我",
    "違う", "違います", "違って", "ちがう", "いや、", "いいえ", "そうじゃな", "そうではな", "やめて", "止めて",
    "間違って", "それは間違", "戻して", "元に戻", "だめ", "ダメ", "駄目", "まだ動", "まだ失敗", "まだエラー",
    "動かない", "動きません", "動いていません",
    "아니", "틀렸", "안 돼", "안돼", "그게 아니", "그거 아니", "여전히", "아직도", "작동하지 않", "되돌려",
    "하지 마", "그만", "잘못",
]));

/// Signs, anywhere in a sentence without blanks, that it objects to nothing.
#[rustfmt::skip]
pub(super) static APPROVES_UNSPACED: LazyPhrases = LazyPhrases::new(|| Phrases::new(&[
    "不要紧", "不客气", "没问题", "没关系", "没事", "不是问题", "很好", "谢谢", "不要停", "不要担心",
    "大丈夫", "問題な", "ありがと", "괜찮", "고마", "감사", "좋아", "아니면",
]));

/// Words that may stand before an objection without changing it.
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &[
    "hmm", "hm", "ok", "okay", "well", "wait", "sorry", "oh", "ah", "uh", "please", "and", "also",
    "but", "so", "hey", "claude", "again", "yes", "yeah", "thanks", "bitte", "aber", "mais", "pero",
    "whoa", "mensch",
];
