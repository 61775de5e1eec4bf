"""`kangtou rules`: the rule books."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import books
from .common import of
from .exits import NOT_FOUND


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules)


def rules(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME|RULE", help="hongshi, common …, or a rule such as HS-4.3")] = "",
    rule: Annotated[str, typer.Argument(metavar="RULE", help="a rule (HS-4.3) or a section (HS-4)")] = "",
) -> None:
    """Show a rule book, one of its sections, or one rule.

    The numbers are those that refusals name. "common" is what all games share (rules CM-...).

    \b
    Examples:
      kangtou rules                list the books
      kangtou rules hongshi        the whole book
      kangtou rules hongshi 4.3    one rule
      kangtou rules HS-4           a section
    """
    common = of(context)
    try:
        known = books.names()
    except books.BooksMissing as error:
        raise common.fail(NOT_FOUND, "books_missing") from error
    if not game:
        common.put_json(known) if common.json else common.put("\n".join(known))
        return
    number = rule.upper() if rule else game.upper() if game not in known else ""
    name = game if game in known else books.book_of(number) or ""
    text = books.book(name)
    if text is None:
        raise common.fail(NOT_FOUND, "no_book", book=game, books=", ".join(known))
    if number:
        number = number if "-" in number else f"{_prefix(text)}-{number}"
        found = books.rule(text, number)
        if found is None:
            raise common.fail(NOT_FOUND, "no_rule", rule=number, book=name)
        text = found
    if common.json:
        common.put_json({"book": name, "rule": number, "text": text})
    else:
        common.put(text.rstrip("\n"))


def _prefix(text: str) -> str:
    """`HS` of a book whose sections are `## HS-1 …`."""
    head = next((line for line in text.split("\n") if line.startswith("## ") and "-1 " in line), "## CM-1 ")
    return head.removeprefix("## ").partition("-")[0]
