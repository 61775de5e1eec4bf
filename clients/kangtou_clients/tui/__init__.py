"""The terminal interface of `kangtou play`. It draws what the engine's views say and asks the server; no rules here.

words.py   its texts, in Chinese and English      lobby.py, opening.py, waiting.py   finding a table
look.py    cards and lines with their colours     table.py, follow.py                playing and looking on
board.py   the seats and the middle               hand.py, bar.py                    the own hand, what can be done
book.py, sheets.py, choose.py, help.py            replay.py                          finished matches
"""
