"""A scripted evening: forty people, ten tables of all games, the queue, and what is left of it in the end.

people       who is there, each in one place at a time
habits       what somebody does in a match besides playing
seats        playing a seat, with its habits
tables       a table from its opening to the last one who leaves
queues       a party in the queue; a rated pool in which somebody declines
looking_on   spectators
talking      what is said at a table
programme    who does what
ledger       what everybody was told
afterwards   what must be true in the end, from the records
places       where it takes place: in this process, or a server of real processes
"""
