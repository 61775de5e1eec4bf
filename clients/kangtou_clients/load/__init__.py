"""Load on a server as people make it: tables arrive by chance, players think, answers are timed as they were meant.

plan       what is played, how many tables, how long one thinks
timeline   when each answer was meant to be sent, whatever the server does
players    accounts with a stream each, over shared connections
generator  tables that come and go
figures    what was measured
search     the highest load that is still answered in time
"""
