"""Nothing that a running server or client produces gives away a card, a seed, an entropy or a token.

known     what must not be found, in all the forms in which it could be written
"""
