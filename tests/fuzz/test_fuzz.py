"""The fuzzer in short: nothing but refusals comes of its inputs; a planted fault is found; what it once found."""

from __future__ import annotations

import json
import sys
from random import Random

import pytest

from kangtou.v1 import tournament_pb2 as pb
from kangtou_services.gateway.gate import version_of
from kangtou_services.gateway.people_service import PeopleService
from tests.conftest import Counts

from .calls import Calls, Context
from .many import show
from .mutate import mutated, mutated_text
from .place import place
from .run import TARGETS, run_part


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_nothing_but_refusals(counts: Counts) -> None:
    """Every target; tables that nobody hurts go on; no task is left, no table is stopped."""
    count = counts(6_000, 60_000)
    total = run_part(2, 0, count, lambda _: None)
    sys.stdout.write(f"{show(total, 1.0)}\n")
    assert (total.findings, total.tasks_left, total.witness_bad) == ([], [], 0)
    assert total.inputs >= count
    assert total.witness_moves > 0
    for target in TARGETS:
        assert sum(number for kind, number in total.outcomes.items() if kind.startswith(f"{target.name} ")) >= 5
    assert len([kind for kind in total.outcomes if kind.startswith("calls ")]) > 20
    assert total.outcomes["calls accepted"] > 0  # inputs reach the rules


@pytest.mark.slow
def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a handler that raises what it should not."""

    async def broken(*_: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(PeopleService, "GetProfile", broken)
    total = run_part(3, 0, 600, lambda _: None, "calls")
    assert any("GetProfile: INTERNAL" in what for _, what in total.findings)
    assert any("KeyError" in what for _, what in total.findings)


def test_a_number_is_the_same_input_again() -> None:
    """Whatever was made before."""
    raw, others = b"\x0a\x05hello\x10\x07", [b"\x0a\x03abc"]
    assert [mutated(Random(f"1:{n}"), raw, others) for n in range(200)] == [
        mutated(Random(f"1:{n}"), raw, others) for n in range(200)
    ]
    texts = [mutated_text(Random(f"1:{n}"), "play S3 H3", ["pass"]) for n in range(200)]
    assert texts == [mutated_text(Random(f"1:{n}"), "play S3 H3", ["pass"]) for n in range(200)]
    assert len(set(texts)) > 150


SPECS = {
    "half a surrogate": '{"name": "\\ud800"}',
    "half a surrogate as a field": '{"\\udfff": 1}',
    "deep": "[" * 20_000,
    "deep tables": '{"a":' * 6_000,
    "no number": '{"name": "a", "confidence": NaN}',
    "many digits": '{"sets": ' + "9" * 6_000 + "}",
    "more than a float holds": json.dumps({"stopping": {"low": 10**400}}),
    "infinite": '{"stopping": {"low": 0, "high": 1e999}}',
}


@pytest.mark.parametrize("text", SPECS.values(), ids=SPECS)
async def test_specs_that_broke_the_gateway(text: str) -> None:
    """Each is answered by what is wrong with it."""
    async with place() as server:
        handler = server.handlers["/kangtou.v1.TournamentService/CheckSpec"]
        raw = pb.CheckSpecRequest(spec_json=text).SerializeToString()
        response = await handler.unary_unary(raw, Context(server.callers[0]))
        assert response.problems
        assert not response.spec_json


@pytest.mark.parametrize(("text", "numbers"), [("²", ()), ("9" * 5_000, ()), ("1.٣", (1,)), ("1.20.3", (1, 20, 3))])
def test_versions_that_broke_the_gate(text: str, numbers: tuple[int, ...]) -> None:
    """Digits that are none for `int`, and more of them than it takes."""
    assert version_of(text) == numbers


async def test_calls_of_every_method_are_made() -> None:
    """So that a new service is fuzzed without a word here."""
    async with place() as server:
        assert len(server.handlers) >= 70
        assert Calls.name == "calls"
