"""Nothing that a running server or client produces gives away a card, a seed, an entropy or a token.

known     what must not be found, in all the forms in which it could be written
produced  everything that a server on this machine writes, exposes and answers
matches   whole matches whose secrets are known, and that can be held in the middle
leaky     a game that plants a leak of every kind, to see that each is found
wire      a match on a whole server in this process whose clock stands, and every byte that its clients are sent
"""
