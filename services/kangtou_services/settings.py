"""Every setting of a server, in one frozen object; from KANGTOU_… variables or a caller."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kangtou.tracing import check

_Port = Annotated[int, Field(ge=-1, le=65_503)]
_Part = Annotated[float, Field(ge=0, le=1)]

REDIS_SCHEMES = ("redis://", "rediss://", "unix://", "redis+cluster://", "rediss+cluster://")


class Settings(BaseSettings):
    """Names are those of the variables without the prefix. Times in ms unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="KANGTOU_", frozen=True, extra="forbid")

    data: Path = Path("kangtou-data")
    redis_url: str = Field(default="", repr=False)  # empty: the embedded server's socket in the data folder
    archive_url: str = Field(default="", repr=False)  # empty: `archive/` in the data folder; any fsspec URL
    redis_wait_ms: int = 0  # how long a process that starts waits for Redis; `up` has its children wait
    link_secret: str = Field(default="", repr=False)  # shared by gateways and actors
    node: str = "local"
    host: str = "127.0.0.1"
    port: int = 7480
    gateways: int = 1
    actors: int = 0  # table actors of this node; 0: one a core, at least 2
    tables_per_actor: int = 20_000
    link: str = "unix"  # or tcp
    tls: bool = False  # the gateways' port speaks TLS; without `tls_cert` by a certificate made for development
    tls_cert: str = ""  # PEM: the certificate, and those between it and the root
    tls_key: str = ""  # PEM: its key, which nobody else may read
    tls_ca: str = ""  # PEM: the root, where the system does not know it; for the bots that the server itself runs
    ray_address: str = ""  # host:port of the head, where a server has several nodes
    address: str = ""  # of this node for other nodes: table actors and Ray listen there
    head: bool = False  # whether `up` runs a head that other nodes may join
    join: str = ""  # join.json of the head that `up` joins
    redis_port: int = 7481  # at which the embedded server of a head serves other nodes
    ray_port: int = 7482  # of the head
    ray_redis_url: str = Field(
        default="", repr=False
    )  # where Ray's head keeps its state; empty: where everything else is
    scale_tables: PositiveInt = 2_000  # the scaler has a node asked for where there are so many more,
    scale_least: int = 2  # no fewer than these,
    scale_most: int = 40  # and no more
    raylet: bool = True  # whether the pool starts the raylet of its node; else one runs there already

    turn_ms: int = 30_000
    window_ms: int = 0  # 0: the game's own for people, the turn clock for bots
    bank_ms: int = 0  # time bank of a seat for a match, where a table chose none
    increment_ms: int = 0
    lag_ms: int = 500  # measured lag given back for one action, at most; at tables of bots only if they chose it
    lag_match_ms: int = 10_000  # the same for a seat in a match
    late_most: int = 2  # turns in a row that the clock plays until a person's seat goes to a substitute; 0: never
    substitute_ms: int = 1_000  # then the default action is played for a seat whose owner is away
    ping_ms: int = 5_000  # between two pings of a person's play stream; 0: no lag is measured
    open_wait_ms: int = 3_000
    absent_ms: int = 600_000
    max_outage_ms: int = 3_600_000
    heartbeat_ms: int = 1_000
    keep_log_ms: int = 3_600_000
    keep_rated_days: NonNegativeInt = 0  # records of rated matches, by their end; 0: for ever
    keep_unrated_days: NonNegativeInt = 0
    keep_bots_days: NonNegativeInt = 0  # of matches without a person, rated or not

    replicas: int = 0
    allow_weak_redis: bool = False
    token_days: int = 90
    max_streams_per_account: int = 64
    max_streams_per_connection: int = 256
    max_message_bytes: int = 64 * 1024
    messages_per_s: PositiveInt = 500  # of one account on play streams, and 250 for each seat: more is read later
    queue_updates: int = 1_024
    calls_per_account: PositiveInt = 500  # calls a second; a bucket holds those of ten
    calls_per_address: PositiveInt = 2_000  # the same; a hundred times as many from this machine
    wrong_tokens: PositiveInt = 60  # of one address in a minute; a hundred times as many from this machine
    local_operator: bool = True  # who calls from this machine is an operator, if the gateway listens on loopback alone
    registrations: int = 120  # of one host in a minute; a hundred times as many from this machine
    bot_tickets: int = 256  # tickets and seats that a bot's account may have in one pool; a person has one
    open_tables: int = 8  # tables that a person may have open at a time
    bot_open_tables: int = 256  # the same for a bot
    idle_table_ms: int = 3_600_000  # how long an open table may stand empty
    accept_ms: int = 20_000  # how long people have to take a match found in a rated pool; 0: they are not asked
    window_points: int = 200  # how far apart ratings may be at first in rated pools of people,
    window_per_s: int = 20  # so much more with each second of waiting,
    window_open_s: int = 60  # and as far as they like after that
    house_bots: int = 5  # accounts of the house bots that `up` runs; 0: none
    house_secret: str = Field(default="", repr=False)  # by which bots become those of the house; empty: they cannot
    give_up_deaths: int = 5  # deaths of one child within a minute after which `up` gives up
    fill_after_ms: int = 0  # 0: house bots fill a table only when asked
    tournaments: bool = True  # whether `up` starts a runner
    tournament_players: int = 2  # processes in which the runner has bots play that think (one more plays all others)
    extra_games: str = ""  # `module:ATTRIBUTE` of further GameSpecs, separated by commas
    min_client: str = ""  # the oldest version of our client that may call, such as 0.2.0
    log_level: str = "info"
    log_format: Literal["json", "text"] = "json"
    metrics_port: _Port = 0  # 0: any free one; -1: no metrics; else the first free one from there on
    metrics_host: str = "127.0.0.1"  # beyond loopback whoever comes can read them
    trace: str = ""  # where traces of moves go: file:FOLDER or an OTLP address, http(s)://HOST:PORT; empty: nowhere
    trace_rate: _Part = 0.0  # part of the moves that this server traces where the client does not

    @field_validator("redis_url")
    @classmethod
    def _known(cls, url: str) -> str:
        if url and not url.startswith(REDIS_SCHEMES):
            raise ValueError(f"a Redis URL begins with {', '.join(REDIS_SCHEMES)}")
        return url

    @model_validator(mode="after")
    def _both(self) -> Settings:
        if bool(self.tls_cert) is not bool(self.tls_key):
            raise ValueError("tls_cert and tls_key go together")
        return self

    @property
    def front(self) -> str:
        """Of the gateways, as clients on this machine give it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'tls://' if self.tls or self.tls_cert else ''}{host}:{self.port}"

    @field_validator("trace")
    @classmethod
    def _traceable(cls, to: str) -> str:
        check(to)
        return to

    @field_validator("min_client")
    @classmethod
    def _numbers(cls, version: str) -> str:
        if version and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})*", version):
            raise ValueError("a version is numbers with dots, such as 0.2.0")
        return version

    @property
    def redis(self) -> str:
        """Where Redis is."""
        return self.redis_url or f"unix://{(self.data / 'redis' / 'redis.sock').absolute()}"

    @property
    def archive(self) -> str:
        """Where records go."""
        return self.archive_url or str((self.data / "archive").absolute())

    @property
    def run_dir(self) -> Path:
        """Sockets, pid files and markers of this node."""
        return self.data / "run"
