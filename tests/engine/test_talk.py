"""What seats may say, by the books. HS-11.4, DZ-5.9"""

from __future__ import annotations

from random import Random

import pytest

from kangtou_engine.game import FREE, PHRASES, SILENT
from tests.engine.tables import Table, chance_of, tables
from tests.engine.test_registry_leaks import tell

TABLES: dict[str, Table] = {}
for _table in tables():
    TABLES.setdefault(_table.game.spec.name, _table)
IN_ROUND = {"free": FREE, "safe": PHRASES, "off": SILENT}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_in_every_position_of_a_match(name: str) -> None:
    """Hongshi: by option `chat` in a round; Duizhu: the dealer's side is silent while it buries; else anything."""
    table = TABLES[name]
    told = tell(table, Random(f"talk/{name}"), chance_of(2))
    game, state = table.game, table.game.before(told.state.config)
    met: set[str] = set()
    for events in told.events:
        state = game.fold(events, state)
        said = [game.spec.talk(state, seat) for seat in range(state.config.seats)]
        met.update(said)
        if name == "hongshi" and state.phase in ("reveal", "play"):
            assert said == [IN_ROUND[state.config.options.chat]] * 4
        elif name == "duizhu" and state.phase in ("bury", "sink"):
            dealer = state.sheet.dealer
            assert dealer is not None
            assert said == [SILENT if seat in (dealer, (dealer + 2) % 4) else FREE for seat in range(4)]
        else:
            assert set(said) == {FREE}
    assert met == {"hongshi": {FREE, PHRASES}, "duizhu": {FREE, SILENT}}.get(name, {FREE})
