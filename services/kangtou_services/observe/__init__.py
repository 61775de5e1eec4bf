"""What a server tells about itself: counters on the way of a move, gathered only when somebody asks.

tally      a histogram of plain numbers: adding to one costs a bisection
table, log, gateway, runner    what each part of a process counts, and the same as metrics
expose     the metrics over HTTP, on loopback unless the settings say otherwise
"""
