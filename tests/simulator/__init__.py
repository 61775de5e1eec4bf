"""A deterministic simulator: tables, hosts, links, gateways and clients as they are, in virtual time, under faults.

One seed is one run: a plan (plan.py), processes (process.py) on a loop of our own (loop.py), a network (network.py,
streams.py) and a store (store.py) that fail as planned (faults.py), players (players.py), and what must hold
(invariants.py). `python -m tests.simulator --help`; docs/simulator.md.
"""
