"""`kangtou bot check`: whether a bot of anybody keeps to the protocol.

inspector   a gateway in between, which counts what passes and can drop streams
trial       the bot as a process, in matches against built-in bots
verdicts    what was seen, as a table of verdicts with advice
"""
