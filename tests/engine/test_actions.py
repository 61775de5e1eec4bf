"""Actions and their text. rules/README, "Actions"; CM-10.1."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kangtou_engine.actions import (
    MAX_LENGTH,
    Action,
    card_list,
    cards_of,
    is_named,
    number_of,
    only_keys,
    parse_action,
    plain,
)
from kangtou_engine.cards import DECK54
from kangtou_engine.errors import IllegalAction
from kangtou_engine.words import LANGUAGES, explain

LEGAL = [
    ("pass", Action("pass")),
    ("cut 20", Action("cut", ("20",))),
    ("cut 0", Action("cut", ("0",))),
    ("play HT DT", Action("play", ("HT", "DT"))),
    ("play HT HT", Action("play", ("HT", "HT"))),
    ("play HT DT as=ten", Action("play", ("HT", "DT"), (("as", "ten"),))),
    ("lay BJ=D8 RJ=H3 S7", Action("lay", ("BJ=D8", "RJ=H3", "S7"))),
    ("exchange give=HJ,H8 take=S3", Action("exchange", (), (("give", "HJ,H8"), ("take", "S3")))),
    ("timeout seat=2", Action("timeout", (), (("seat", "2"),))),
    ("vote_end", Action("vote_end")),
]

MALFORMED = [
    ("", "malformed"),
    (" ", "malformed"),
    (" pass", "malformed"),
    ("pass ", "malformed"),
    ("pass  H6", "malformed"),
    ("Pass", "malformed"),
    ("7 pass", "malformed"),
    ("_pass", "malformed"),
    ("a" * 33, "malformed"),
    ("play h6", "malformed"),
    ("play H1", "malformed"),
    ("play ??", "malformed"),
    ("play 007", "malformed"),
    ("play -1", "malformed"),
    ("play +1", "malformed"),
    ("play 1.5", "malformed"),
    ("play 1234567890", "malformed"),
    ("play ٣", "malformed"),
    ("play H6\n", "malformed"),
    ("play\tH6", "malformed"),
    ("play BJ=", "malformed"),
    ("play BJ=RJ", "malformed"),
    ("play as=", "malformed"),
    ("play =ten", "malformed"),
    ("play As=ten", "malformed"),
    ("play as=a,", "malformed"),
    ("play as=a,,b", "malformed"),
    ("play as=红", "malformed"),
    ("play as=a as=b", "key_twice"),
    ("play as=ten HT", "argument_after_key"),
    ("play " + "H6 " * 200, "too_long"),
    ("a" * (MAX_LENGTH + 1), "too_long"),
]


@pytest.mark.parametrize(("text", "action"), LEGAL)
def test_round_trip(text: str, action: Action) -> None:
    """Text to action and back; `repr` shows the text."""
    assert parse_action(text) == action
    assert str(action) == text
    assert repr(action) == f"<{text}>"


@pytest.mark.parametrize(("text", "code"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed(text: str, code: str) -> None:
    """Refused by CM-10.1, and it can be said in both languages."""
    with pytest.raises(IllegalAction) as refused:
        parse_action(text)
    assert (refused.value.rule, refused.value.code) == ("CM-10.1", code)
    assert all(explain({}, refused.value, lang) for lang in LANGUAGES)


@given(st.text(max_size=60) | st.text(alphabet="SHCD3456789TJQKA2BR=, playcut", max_size=40))
def test_any_text(text: str) -> None:
    """Any text is read exactly, or refused with IllegalAction."""
    try:
        action = parse_action(text)
    except IllegalAction:
        return
    assert str(action) == text


ARGUMENTS = st.sampled_from((*DECK54, "0", "7", "999999999", "BJ=D8", "RJ=S3"))
KEYS = st.dictionaries(st.sampled_from("as give take seat".split()), st.sampled_from("ten 2 HJ,H8 x-y_z".split()))


@given(st.sampled_from("play cut vote_end".split()), st.lists(ARGUMENTS, max_size=12), KEYS)
def test_any_action(verb: str, args: list[str], keys: dict[str, str]) -> None:
    """Every well-formed action round-trips."""
    action = Action(verb, tuple(args), tuple(keys.items()))
    assert parse_action(str(action)) == action


REFUSED: list[tuple[Callable[[Action], object], str, str]] = [
    (plain, "pass H6", "takes_nothing"),
    (plain, "pass as=ten", "takes_nothing"),
    (lambda action: only_keys(action, "as"), "play H6 is=ten", "unknown_key"),
    (cards_of, "play 7", "not_a_card"),
    (cards_of, "play BJ=D8", "not_a_card"),
    (number_of, "cut", "wants_number"),
    (number_of, "cut 1 2", "wants_number"),
    (number_of, "cut H6", "wants_number"),
    (number_of, "cut 7 as=ten", "wants_number"),
    (lambda action: card_list(action.key("give") or ""), "exchange give=HJ,x", "not_a_card"),
]


@pytest.mark.parametrize(("check", "text", "code"), REFUSED, ids=[text for _, text, _ in REFUSED])
def test_refusing_helpers(check: Callable[[Action], object], text: str, code: str) -> None:
    """What the helpers of the games refuse."""
    with pytest.raises(IllegalAction) as refused:
        check(parse_action(text))
    assert refused.value.code == code
    assert all(explain({}, refused.value, lang) for lang in LANGUAGES)


def test_helpers() -> None:
    """What they give."""
    plain(Action("pass"))
    only_keys(parse_action("play as=ten"), "as")
    assert cards_of(parse_action("play H6 BJ")) == ("H6", "BJ")
    assert number_of(parse_action("cut 20")) == 20
    assert card_list("HJ,H8") == ("HJ", "H8")
    assert parse_action("play as=ten").key("as") == "ten"
    assert parse_action("play as=ten").key("seat") is None
    assert is_named("BJ=D8")
    assert not is_named("BJ")
