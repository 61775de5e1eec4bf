"""The record of a finished match: one UTF-8 text, read by people and programs. docs/record-format.md.

values    what a record holds, and how it is made from a live log
text      the text of a record
read      the strict reader, and the faults it names
moments   the course of the match, one thing after another, for replay and seeking
"""

from .moments import Moment, moments_of
from .read import Fault, RecordFault, examine, read_record
from .text import canonical_text, write_record
from .values import Head, Line, Outcome, Place, Record, Terms, make_record

__all__ = [
    "Fault",
    "Head",
    "Line",
    "Moment",
    "Outcome",
    "Place",
    "Record",
    "RecordFault",
    "Terms",
    "canonical_text",
    "examine",
    "make_record",
    "moments_of",
    "read_record",
    "write_record",
]
