"""Exported pages in a real browser."""
