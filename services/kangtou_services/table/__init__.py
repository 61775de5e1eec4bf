"""One table: a plain class without IO, clock or chance of its own. `core.Table` is where a move is decided."""
