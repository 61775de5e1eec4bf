"""Formats, sets, statistics and reports of tournaments: pure functions."""
