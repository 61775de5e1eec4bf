"""Production shuffles in great number, and the statistical tests that they pass: `python -m tests.shuffles --help`.

packs     the packs of all games, and how the deals of a run are made from one master seed
tally     what is counted of the deals of one pack; tallies add up
judge     published tests of the counts, each with its exact distribution; Bonferroni over all of them
planted   biased shuffles, each of which the tests must find
many      the deals on all cores
"""
