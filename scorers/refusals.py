"""Textual refusals: a reply that declines to answer and says nothing else.

Conservative: a reply counts only if it is short, refuses in words that are known here, and all that is left of it is
courtesy ("Is there anything else?"). What doubts the question ("I cannot answer, as there is no dog"), what cannot tell
("I cannot determine the colour"), and what refuses and answers all the same are replies like any other.
"""

from __future__ import annotations

import re
import unicodedata

_MAX_LENGTH = 1_000  # characters; whoever writes more has said something
_CLAUSE = re.compile(
    r"[.!?;:,\n…。、]+|(?<!such )\b(?:as|because|but|however|since|therefore|while|yet)\b"
    r"|\b(?:mais|car|parce que|puisque|aber|weil|denn|da|pero|porque|ya que)\b"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("‘’ʼ`´", "'"))
_MARKS = " \t\r'\"*_#>()[]-–—“”„«»「」"

# An answer, wherever it stands.
_ANSWERS = re.compile(
    r"\\boxed|\([A-Ha-h]\)|\b[A-Z]\d+\b|\b(?i:(?:answer|option|choice) (?:is|[a-h]\b)|answer:|coordinate:|explanation:)"
    r"|答案|正解|정답"
)
# Doubt about the question itself: the right answer to a false premise.
_DOUBTS = re.compile(
    r"\b(?:premise|false|contradict\w*|claims?|incorrect|inaccurate|mistaken|(?:is|are|was|were) no|no such"
    r"|not (?:shown|present|visible|there|in the)|prémisse|faux|fausse|contredit|aucun\w*|n'y a|prämisse|falsch\w*"
    r"|widersp\w*|kein\w*|premisa|falsa|falso|contradice|no hay)\b"
    r"|前提|错误|錯誤|虚假|虛假|不存在|没有(?!办法)|沒有(?!辦法)|矛盾|不成立|不符|誤り|間違|写って|存在し|いません$"
    r"|전제|거짓|틀렸|틀린|잘못|존재하지|모순|없기"
)


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


_THIS = r"(?: (?:it|that|this|so|(?:that|this|your|the|these|those|such)(?: (?:kind|type|sort)s? of)? \w+))?"
_ENGLISH_SPEAKER = _any(
    r"i (?:can't|cannot|can not|won't|will not|am not able to|am unable to|am not allowed to|am not permitted to)",
    r"i (?:do not|don't) have the ability to",
    r"i'm (?:unable|not able|not allowed|not permitted) to",
    r"i (?:(?:must|have to|need to) )?(?:decline|refuse) to",
    r"(?:unable|not able) to",
    r"can't",
)
_ENGLISH_ACT = _any(
    r"(?:help|assist)(?: (?:you|with|in|on)\b.*)?",
    r"(?:comply|engage|be of (?:any )?(?:help|assistance))\b.*",
    r"(?:fulfill?|support|complete|process|handle|carry out|accommodate|(?:continue|proceed)(?: with)?|respond(?: to)?|"
    rf"discuss|do|answer){_THIS}(?: at this time)?",
    r"(?:provide|offer|give|share)(?: (?:any|an?|the|that|this|you|with|further))*"
    r" (?:help|assistance|support|guidance|information|content|answer|response|analysis|advice|that|this)"
    r"(?: (?:with|on|for|about|to|regarding|you)\b.*)?",
    r"(?:identify|recogni[sz]e|name)(?: or \w+)?(?: (?:any|the|real|specific|these|those|private))*"
    r" (?:people|persons?|individuals?|anyone|someone|faces)\b.*",
    r"(?:see|view|access|open|analy[sz]e|process|interpret|display|look at)(?: (?:or|and) \w+)?"
    r"(?: (?:any|the|this|that|these|your|attached|provided|uploaded|given))*"
    r" (?:images?|pictures?|photos?|photographs?|screenshots?|files?|attachments?)(?: directly| at (?:this|the) \w+)?",
)
_ENGLISH = _any(
    r"(?:(?:and|so|unfortunately|sorry|i'm sorry|i am sorry) )*"
    rf"{_ENGLISH_SPEAKER} (?:(?:\w+ly|further|be able to) )?{_ENGLISH_ACT}",
    r"i (?:(?:must|have to|need to) )?(?:respectfully |politely )?decline(?: (?:this|that|your|the) \w+)?",
)
_CHINESE = (
    r"(?:所以|因此)?(?:(?:很|非常|十分)?(?:抱歉|对不起|對不起))?(?:作为[^我]{1,20}|作為[^我]{1,20})?(?:我们|我們|我)?(?:暂时|目前)?"
    r"(?:无法|無法|不能|没法|沒法|没办法|沒辦法|没有办法|沒有辦法|不便|拒绝|拒絕)(?:(?:为|為|给|給|向)(?:您|你)|对此|對此|就此|继续|繼續)*"
    + _any(
        r"(?:帮|幫|协助|協助|支持|满足|滿足|处理|處理|遵从|执行|執行|讨论|討論).*",
        r"提供.{0,12}(?:帮助|幫助|协助|協助|服务|服務|信息|資訊|回答|答复|內容|内容|支持)",
        r"(?:回答|回复|回覆|回應|回应|答复|完成)(?:您|你)?的?(?:这个|這個|这类|這類|该|該|此)?(?:问题|問題|请求|請求|要求)?",
        r"(?:查看|看到|看见|看見|访问|分析|处理|處理|读取|打开)(?:您|你|这张|這張|该|該|此|任何|提供的|上传的)*"
        r"(?:图片|圖片|图像|圖像|照片|文件)",
        r"(?:识别|識別|辨认|辨認).{0,12}(?:人物|身份|面孔|人脸)",
    )
)
_JAPANESE = (
    r"(?:その|この|こちらの|そのような|ご|お|当該)*(?:リクエスト|質問|要望|依頼|要求|内容|件|問題|情報|それ|これ)?"
    r"(?:に関して|について)?(?:を|に|は|も|の|には|への)?(?:ご|お)?"
    + _any(
        r"(?:手伝い|答え|応え|応じ|力に(?:なる|なれ)|対応|支援|回答|提供|協力|サポート)",
        r"(?:画像|写真)を?(?:直接)?(?:見る|閲覧|表示|確認|分析)",
    )
    + r"(?:する|いたす|こと|を|に|は|が|も|し)*"
    r"(?:でき(?:ません|ない|かねます)|(?:いた)?(?:し)?かねます|(?:いた)?しません|られません)(?:でした|ので)?"
)
_KOREAN = (
    r"(?:(?:죄송하지만|죄송합니다만|미안하지만|안타깝지만|유감스럽지만) ?)?(?:저는 )?"
    r"(?:(?:그|이|해당|요청하신|그런|이러한) ?)?(?:요청|질문|정보|내용|부분|것)?"
    r"(?:에 대해서?는?|에 대한|에는|에|은|는|을|를)? ?"
    + _any(
        r"도와 ?(?:드릴|줄)",
        r"도울",
        r"도움(?:을|이)? ?(?:드릴|줄|될)",
        r"(?:답변|대답|응답|제공|처리|지원|협조|수행)(?:을|를)? ?(?:해 ?)?(?:할|드릴|줄)",
        r"응할",
        r"(?:이미지|사진|그림)(?:를|을)? ?(?:직접 )?(?:볼|확인할|분석할|열)",
    )
    + r" ?수(?:가|는)? ?없(?:습니다|어요|네요|다|음)"
)
_FRENCH = (
    r"(?:(?:je suis|navrée?|désolée?|malheureusement) )*"
    r"(?:je ne (?:peux|puis) (?:pas )?|(?:je ne suis pas en mesure|il m'est impossible|je refuse) d(?:e |'))"
    r"(?:(?:vous|te) |t')?"
    + _any(
        r"(?:aider|assister|satisfaire|accéder à (?:cette|votre)|traiter (?:cette|votre))\b.*",
        r"(?:répondre|donner suite)(?: à (?:cette|votre|ta) (?:question|demande|requête))?",
        r"fournir (?:cette |ces |d'|une? |de )?.{0,40}(?:aide|assistance|informations?|réponse)",
        r"(?:voir|afficher|analyser|consulter) (?:les? |l'|cette |des |d')?(?:images?|photos?)",
        r"identifier (?:les |des |cette |une )?(?:personnes?|individus?)\b.*",
    )
)
_GERMAN_ACT = _any(
    r"(?:weiter)?helfen",
    r"behilflich sein",
    r"beantworten|bearbeiten|erfüllen|unterstützen|nachkommen|entsprechen",
    r"(?:sehen|ansehen|anzeigen|analysieren)",
)
_GERMAN = (
    r"(?:(?:leider|tut mir leid|es tut mir leid) )*(?:(?:dabei|damit|hierbei|das|diese frage|diese anfrage) )?"
    rf"(?:(?:ich kann|kann ich|ich darf|darf ich|ich werde)\b.{{0,80}}?\bnicht (?:.{{0,40}} )?{_GERMAN_ACT}"
    r"|ich muss (?:das |dies |diese anfrage )?ablehnen)"
)
_SPANISH = (
    r"(?:(?:lo siento|lamentablemente|disculpa|disculpe) )*"
    r"(?:no puedo|no (?:soy|estoy) (?:capaz|en condiciones) de|no me es posible|me es imposible|me niego a) "
    + _any(
        r"(?:ayudar|asistir|atender|cumplir|procesar|satisfacer)(?:te|le|los|lo|la)?\b.*",
        r"(?:responder|contestar)(?:te|le|lo)?(?: a)?(?: (?:(?:esa|esta|su|tu) (?:pregunta|solicitud)|eso|esto))?",
        r"(?:proporcionar|ofrecer|dar)(?:te|le)? (?:esa |esta |una? |ninguna )?"
        r"(?:ayuda|asistencia|información|respuesta)\b.{0,40}",
        r"(?:ver|analizar|acceder a|abrir) (?:las? |esta |esa |tus? )?(?:imagen|imágenes|fotos?)",
        r"identificar (?:a )?(?:las? |los |esta |una? )?(?:personas?|individuos?)\b.*",
    )
)
_REFUSES = re.compile(_any(_ENGLISH, _CHINESE, _JAPANESE, _KOREAN, _FRENCH, _GERMAN, _SPANISH))

# How a clause begins that may stand beside a refusal: regret, reasons, offers.
_COURTESY = re.compile(
    _any(
        r"(?:(?:and|so|i am|i'm|my|very|really|deeply|truly) )*(?:sorry|apolog\w+|unfortunately|thank\w*)\b",
        r"i (?:understand|appreciate|apologi[sz]e|hope|regret)\b",
        r"(?:(?:i'm|i am) )?an? (?:ai|language|text|large)\b",
        r"if (?:you|there's|there is)(?:'d|'re| (?:have|need|want|would|can|could|provide|share|give|wish|anything))\b",
        r"(?:is|was) there (?:any|some)thing\b",
        r"(?:please|feel free|let me know|how (?:else )?(?:can|may) i|can i help|what else)\b",
        r"(?:i'd|i would|i'll) be (?:happy|glad)\b",
        r"(?:i'm|i am) (?:happy|glad|here|designed) to\b",
        r"i can (?:help|assist) (?:you )?with (?:other|something|any)",
        r"you (?:can|could|may|might) (?:try|consult|ask|contact|provide|describe|share|upload)\b",
        r"(?:it|this|that|your|the)(?: (?:request|content|question|image|topic|prompt|task))? "
        r"(?:violates|may violate|goes against|is against|appears to violate|involves|contains|may contain)\b",
        r"(?:or|nor|including|especially|particularly|such as|due to|because of|at (?:this time|the moment))\b",
        r"for (?:safety|privacy|ethical|legal) reasons",
        r"(?:很|非常|十分|真|实在|實在)?(?:抱歉|对不起|對不起|不好意思|遗憾|遺憾)",
        r"(?:如果|若|如)(?:您|你|有)|请|請|感谢|感謝|谢谢|謝謝|我(?:很)?(?:乐意|樂意)|作为|作為|很高兴|还有什么",
        r"(?:因为|因為|由于)(?:它|这|這|该|該|此|我|涉及|违反)|这(?:违反|涉及|可能)|该(?:内容|请求)",
        r"(?:大変|誠に|まことに)?(?:申し訳|すみません|すいません|ごめん|恐れ入り|恐縮|残念)",
        r"他に|ほかに|別の|何か|ご(?:了承|理解|不便|質問|希望|容赦)|お気軽|お手数",
        r"죄송|미안|유감|안타깝|다른 (?:질문|도움|요청)|혹시|언제든|도움이 필요|궁금한|양해|감사",
        r"(?:je suis )?(?:vraiment )?(?:désolée?|navrée?)\b|malheureusement|je m'excuse|si vous|s'il vous|n'hésitez"
        r"|veuillez|merci|puis-je|en tant qu",
        r"(?:es )?tut mir (?:sehr )?leid|leider$|entschuldig\w+|(?:wenn|falls) (?:sie|du)\b|bitte|gerne|danke|als ki\b"
        r"|(?:helfe|stehe) ich\b",
        r"lo (?:siento|lamento)|lamentablemente|disculp\w+|si (?:tienes?|necesitas?|quieres?|deseas?)\b|por favor|"
        r"gracias|¿?(?:hay algo|puedo ayudar|en qué)|como (?:ia|modelo)\b|estoy aquí",
    )
)


def is_refusal(text: str) -> bool:
    """Whether a reply declines to answer and does nothing else.

    English, Chinese, Japanese, Korean, French, German and Spanish are known.

    Args:
        text: The reply without its reasoning, of any length.

    Returns:
        False for what gives an answer as well, rejects the question's premise, or merely cannot tell.
    """
    stripped = text.strip()
    if not stripped or len(stripped) > _MAX_LENGTH:
        return False
    plain = unicodedata.normalize("NFKC", stripped).translate(_APOSTROPHES)
    lower = plain.lower()
    if _ANSWERS.search(plain) or _DOUBTS.search(lower):
        return False
    clauses = [" ".join(clause.strip(_MARKS).split()) for clause in _CLAUSE.split(lower)]
    refuses = [_REFUSES.fullmatch(clause) is not None for clause in clauses]
    rest = (clause for clause, one in zip(clauses, refuses, strict=True) if clause and not one)
    return any(refuses) and all(map(_COURTESY.match, rest))
