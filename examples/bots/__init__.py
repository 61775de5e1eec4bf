"""Bots to begin with. See docs/bots.md."""
