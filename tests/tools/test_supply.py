"""The check of licences and known weaknesses."""

from __future__ import annotations

import pytest

from tools import supply


def test_a_pin_without_a_hash_is_found() -> None:
    """Whatever else stands in the line."""
    good = "# made\na==1 \\\n    --hash=sha256:00\nb==2 ; python_version < '3.12' \\\n    --hash=sha256:11\n"
    assert supply.pinned(good) == ["a", "b"]
    with pytest.raises(ValueError, match="c is pinned without a hash"):
        supply.pinned(f"{good}c==3\n")


def test_licences_that_are_not_allowed() -> None:
    """By name; a tool that is only run may have another."""
    found = {"a": "MIT License", "b": "GPL-3.0-or-later", "yamllint": "GPL-3.0-or-later", "c": "UNKNOWN"}
    assert supply.not_free(found) == ["b: GPL-3.0-or-later", "c: UNKNOWN"]


def test_what_the_audit_says() -> None:
    """Weaknesses by package; what could not be looked up does not count as good."""
    answer = {
        "dependencies": [
            {"name": "a", "version": "1", "vulns": []},
            {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1"}, {"id": "PYSEC-2"}]},
            {"name": "c", "skip_reason": "not found"},
        ]
    }
    assert supply.weaknesses(answer) == (["b 2: PYSEC-1, PYSEC-2"], 2)


@pytest.mark.parametrize(("required", "code"), [("", 0), ("required", 1)])
def test_an_audit_that_cannot_be_made_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], required: str, code: int
) -> None:
    """Never silently."""
    monkeypatch.setenv("KANGTOU_AUDIT", required)
    monkeypatch.setattr(supply, "audit", lambda: ([], 0))
    assert supply.main([]) == code
    assert "NOT AUDITED" in capsys.readouterr().out
