"""Acceptance: the lines that each part of the platform must show, and the program that runs them."""
