"""Answers that come through a subscription which the gateway has let go meanwhile reach whoever asked, once."""

from __future__ import annotations

import asyncio

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou.wire import action_to_pb
from kangtou_engine.actions import parse_action
from kangtou_services.directory import Actor
from kangtou_services.gateway.links import Conn
from kangtou_services.gateway.routes import Pending, Route, Subscription
from kangtou_services.link import GatewayLink
from tests.services.host.seats import asked, default, everybody, node
from tests.services.hosts import code, until, world


class Sink:
    """Keeps what it is brought."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def deliver(self, payload: bytes, *, last: bool) -> None:
        """See Sink."""
        self.payloads.append(payload)

    def moving(self) -> None:
        """See Sink."""

    def refused(self, code: str) -> None:
        """See Sink."""


class Link(GatewayLink):
    """Keeps the calls."""

    def __init__(self) -> None:
        super().__init__(lambda down: None, lambda: None)
        self.calls: list[lpb.Call] = []

    def send(self, call: lpb.Call) -> None:
        """See GatewayLink."""
        sent = lpb.Call()
        sent.CopyFrom(call)
        self.calls.append(sent)


class Streams:
    """Two streams of one seat on one link: what each is brought, and the replies to its commands."""

    def __init__(self) -> None:
        self.conn = Conn(Actor("a1", "unix:x", "n", 1, 0, 9), lambda route, conn, pending: None)
        self.link = self.conn.link = Link()
        self.route = Route("m1")
        self.route.conn = self.conn
        self.sinks = [Sink(), Sink()]
        self.subs = [Subscription(self.route, sink, "ann") for sink in self.sinks]
        self.replies: list[list[lpb.Reply]] = [[], []]
        for sub in self.subs:
            self.conn.subscribe(sub)

    def ask(self, stream: int, command_id: str) -> lpb.Call:
        """A command of a stream; the call as it was sent."""
        call = lpb.Call(match_id="m1", account_id="ann", command=play.Command(match_id="m1", command_id=command_id))
        self.conn.send(Pending(self.route, call, self.replies[stream].append, self.subs[stream]))
        return self.link.calls[-1]

    def come(self, number: int, command_id: str, *refs: int) -> None:
        """A frame with an answer, and empty replies."""
        answer = play.Answer(command_id=command_id, accepted=play.Accepted(seq=7))
        update = play.Update(match_id="m1", seat=0, answer=answer)
        payload = play.PlayResponse(updates=[update]).SerializeToString()
        delivers = [lpb.Deliver(subs=[number], payload=payload)]
        self.conn.received(lpb.Down(delivers=delivers, replies=[lpb.Reply(ref=ref) for ref in refs]))

    def answers(self, stream: int) -> list[int]:
        """In which entries its commands were accepted, by replies."""
        return [reply.answer.accepted.seq for reply in self.replies[stream] if reply.HasField("answer")]


def test_an_answer_on_its_way_to_a_stream_that_lags_goes_into_the_reply() -> None:
    streams = Streams()
    call = streams.ask(0, "c1")
    assert (call.sub, call.unary) == (streams.subs[0].number, False)
    streams.conn.unsubscribe(streams.subs[0])
    streams.come(call.sub, "c1", call.ref)
    assert streams.answers(0) == [7]
    assert streams.sinks[0].payloads == []


def test_an_answer_that_was_brought_is_not_given_again() -> None:
    streams = Streams()
    call = streams.ask(0, "c1")
    streams.come(call.sub, "c1", call.ref)
    assert len(streams.sinks[0].payloads) == 1
    assert streams.answers(0) == []
    assert len(streams.replies[0]) == 1


def test_a_command_that_was_sent_on_two_streams_is_answered_on_each() -> None:
    """Under one id, as a client does that connects again; the older stream's answer is not the newer one's."""
    streams = Streams()
    old, new = streams.ask(0, "c1"), streams.ask(1, "c1")
    streams.conn.unsubscribe(streams.subs[0])
    streams.come(old.sub, "c1", old.ref)
    streams.come(new.sub, "c1", new.ref)
    assert (streams.answers(0), streams.answers(1)) == ([7], [])
    assert [len(sink.payloads) for sink in streams.sinks] == [0, 1]


def test_a_command_sent_twice_is_answered_twice() -> None:
    streams = Streams()
    first, second = streams.ask(0, "c1"), streams.ask(0, "c1")
    streams.conn.unsubscribe(streams.subs[0])
    streams.come(first.sub, "c1", first.ref)
    streams.come(first.sub, "c1", second.ref)
    assert streams.answers(0) == [7, 7]


def test_once_the_actor_knows_nothing_is_kept() -> None:
    """What it sends later it sends in the reply."""
    streams = Streams()
    call = streams.ask(0, "c1")
    streams.conn.unsubscribe(streams.subs[0])
    told = streams.link.calls[-1]
    assert told.HasField("unsubscribe")
    streams.conn.received(lpb.Down(replies=[lpb.Reply(ref=told.ref)]))
    streams.come(call.sub, "c1", call.ref)
    assert streams.answers(0) == []
    assert streams.conn._strays._gone == {}


@pytest.mark.parametrize("newer", [False, True])
async def test_an_actor_answers_through_the_subscription_that_was_named(newer: bool) -> None:
    """And in the reply where that is not the seat's any more: to another stream it is no answer."""
    async with world() as made:
        await made.node()
        gate = await made.hosted(node(made), "m1")
        subs = await everybody(gate, "m1")
        seat = asked(subs)
        text, prompt = default(subs[seat])
        latest = await gate.sub("m1", seat) if newer else subs[seat]
        action = action_to_pb(parse_action(text))
        body = play.Command(match_id="m1", command_id="c1", prompt=prompt, action=action)
        reply = gate.send(lpb.Call(match_id="m1", account_id=f"a{seat}", command=body, sub=subs[seat].number))
        async with asyncio.timeout(60):
            assert code(await reply) == ("accepted" if newer else "")
        if not newer:
            await until(lambda: latest.answer("c1") is not None)
        await gate.query("m1", f"a{seat}", view=True)
        assert (latest.answer("c1") is None) is newer
