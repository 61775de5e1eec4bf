"""Tests; `python -m tests.accept PART` runs the acceptance lines of one part."""
