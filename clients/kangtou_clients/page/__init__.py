"""A match as one HTML page that needs nothing else: no network, no server, no other file. docs/replay-page.md.

frames  what each viewer of the page saw, one thing after another, as values
data    the same packed: every text and value once, of each frame only what changed
words   the page's own texts
export  the page: template, style and script of `assets/`, with the data in it
"""

from .export import write_page

__all__ = ["write_page"]
