"""Random and mutated input against everything that reads what others send. `python -m tests.fuzz --help`."""
