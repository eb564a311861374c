"""Which replies decline to answer, and which only look like it."""

from __future__ import annotations

import pytest

from condchain_tasks.scorers.refusals import is_refusal

REFUSALS = [
    "I can't help with that",
    "I can’t help with that.",
    "I'm sorry, but I can't help with that.",
    "I'm sorry, I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I'm sorry, but I cannot assist.",
    "I'm sorry, but I cannot assist with that request. If you have any other questions, feel free to ask!",
    "Sorry, I can't assist with that.",
    "Sorry, but I can't help with identifying people in images.",
    "I'm unable to assist with that.",
    "I'm unable to help with this request as it may violate our policies.",
    "I am unable to answer this question.",
    "I cannot answer that.",
    "I'm not able to help with that.",
    "I am not able to process this request.",
    "Unfortunately, I cannot comply with this request.",
    "I apologize, but I cannot fulfill this request.",
    "I apologize, but I can't provide assistance with that. Is there something else I can help you with?",
    "As an AI language model, I cannot view images.",
    "I'm unable to view images, so I cannot answer the question.",
    "I'm sorry, but I can't identify people in images.",
    "I can't identify or describe real people.",
    "I won't help with that.",
    "I'm sorry, but I can't assist with that because it violates our content policy.",
    "I can't help with content such as that.",
    "I must decline.",
    "I have to decline this request.",
    "I decline to answer.",
    "**I'm sorry, but I can't help with that.**",
    '"I can\'t help with that."',
    "I can't help with that.\n\nPlease provide a different image.",
    "抱歉，我无法协助处理该请求。",
    "对不起，我不能回答这个问题。",
    "很抱歉，我无法提供帮助。如果您有其他问题，请告诉我。",
    "抱歉，我無法協助您完成這個請求。",
    "我无法回答这个问题。",
    "抱歉，我无法查看图片。",
    "我不能帮助您。",
    "申し訳ありませんが、そのリクエストにはお応えできません。",
    "申し訳ございませんが、お手伝いできません。",
    "すみません、その質問にはお答えできません。",
    "恐れ入りますが、ご要望には応じかねます。",
    "申し訳ありませんが、その内容には対応できません。他にご質問があればお知らせください。",
    "죄송하지만 도와드릴 수 없습니다.",
    "죄송합니다. 그 요청은 도와드릴 수 없습니다.",
    "죄송하지만 해당 질문에 답변할 수 없습니다.",
    "죄송합니다, 그 정보는 제공할 수 없습니다. 다른 질문이 있으시면 말씀해 주세요.",
    "Je suis désolé, mais je ne peux pas vous aider avec cette demande.",
    "Désolé, je ne peux pas répondre à cette question.",
    "Je ne peux pas vous aider.",
    "Je suis désolée, je ne suis pas en mesure de répondre à cette demande. N'hésitez pas à poser une autre question.",
    "Es tut mir leid, aber ich kann dabei nicht helfen.",
    "Tut mir leid, dabei kann ich nicht helfen.",
    "Leider kann ich diese Frage nicht beantworten.",
    "Ich kann Ihnen dabei nicht weiterhelfen. Wenn Sie weitere Fragen haben, helfe ich gerne.",
    "Ich kann diese Anfrage nicht bearbeiten.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Lo siento, no puedo ayudar con esa solicitud.",
    "No puedo responder a esa pregunta.",
    "Lo siento, no puedo procesar esta solicitud. ¿Hay algo más en lo que pueda ayudarte?",
]

REPLIES = [
    "",
    "  \n",
    "A1",
    "\\boxed{F1}",
    "(B)",
    # an answer all the same
    "I cannot see a red car, so A1",
    "I can't help with that. The answer is B.",
    "I'm sorry, but I can't help with that. \\boxed{None}",
    "I'm sorry, but I cannot assist with that request. A1",
    "I'm unable to view images, but the cup falls because the hand lets go.",
    "I can't help with that, the man falls.",
    "I can't assist with that but the dog barks",
    "I'm sorry, I can't help with that. However, the most likely option is (B).",
    "I can't help with that.\nCoordinate: 12, 40\nExplanation: the shelf carries the cup",
    "I cannot identify the person, but the man in the red shirt pushes the cart.",
    "I can't assist with that. If you look closely, the answer is A1.",
    "抱歉，我无法识别图中的人物身份，图中的人在跑步。",
    "抱歉，我无法回答。答案是B。",
    "申し訳ありませんが、お答えできません。犬は走っています。",
    "죄송하지만 답변할 수 없습니다. 개가 달리고 있습니다.",
    "Je ne peux pas vous aider, le chien court.",
    "Ich kann dabei nicht helfen, der Hund rennt.",
    "Lo siento, no puedo ayudarte, el perro corre.",
    # the premise is rejected
    "I cannot answer as the premise is false: there is no dog; the man holds a leash.",
    "I cannot answer this question because the premise is false.",
    "I cannot answer as the premise is false.",
    "I can't help with that, because there is no dog in the image.",
    "I'm sorry, but I cannot answer that. The claim contradicts the image.",
    "I'm unable to answer, since no such object is visible.",
    "我无法回答，因为前提是错误的：图中没有狗。",
    "图中没有狗，所以我无法回答这个问题。",
    "前提が誤りなので、お答えできません。",
    "전제가 잘못되어 답변할 수 없습니다.",
    "Je ne peux pas répondre à cette question, la prémisse est fausse.",
    "Ich kann diese Frage nicht beantworten, die Prämisse ist falsch.",
    "No puedo responder a esa pregunta, la premisa es falsa.",
    "I cannot comply because the dog is brown.",
    "I can't help with that as the rope hangs loose.",
    "Ich kann Ihnen nicht helfen, weil der Hund braun ist.",
    # it cannot tell
    "I cannot tell.",
    "I cannot determine the color of the car from the image.",
    "I'm unable to see the number on the door.",
    "I can't see the image's left border, it is cut off.",
    "I cannot provide a definitive answer.",
    # other people and things cannot help
    "The man can't help with that.",
    "She is unable to assist him because her hands are full.",
    "I can't help but notice the red mug.",
    "The dog cannot help.",
    "男人无法协助那只狗。",
    "男性は対応できません。",
    "남자는 도울 수 없습니다.",
    "Er kann dem Hund nicht helfen.",
    "Il ne peut pas vous aider.",
    "El hombre no puede ayudar.",
    "He said: I can't help with that. Then he left.",
    "Sorry.",
    "I'm sorry for the confusion.",
    "Please look at the image.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_seen(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", REPLIES)
def test_what_says_anything_else_is_a_reply(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize("text", REFUSALS)
@pytest.mark.parametrize("answer", ["A1", "\\boxed{None}", "(B)", "The man lifts the box.", "男人在跑步。"])
def test_a_refusal_that_goes_on_with_an_answer_is_a_reply(text: str, answer: str) -> None:
    assert not is_refusal(f"{text}\n{answer}")


@pytest.mark.parametrize(
    "piece", ["I can't help with that. ", "I'm sorry, ", "i can ", "ich kann nicht ", "\u0315\u0300", "，"]
)
def test_a_huge_reply_is_no_refusal(piece: str) -> None:
    assert not is_refusal(piece * (1_000_000 // len(piece)))
