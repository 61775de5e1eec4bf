"""Finished matches: the records, where they lie, how they are found. Design §4, "Record"."""

from .archiver import Archiver
from .index import Index, Listed, Query
from .store import ArchiveConflict, ArchiveError, ArchiveMissing, RecordStore

__all__ = ["ArchiveConflict", "ArchiveError", "ArchiveMissing", "Archiver", "Index", "Listed", "Query", "RecordStore"]
