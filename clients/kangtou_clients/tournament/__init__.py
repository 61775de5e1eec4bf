"""The report of a tournament (docs/duplicate.md) as text, CSV and one HTML page. It comes as a plain value."""

from .page import write_page
from .table import write_csv
from .text import final_table, show

__all__ = ["final_table", "show", "write_csv", "write_page"]
