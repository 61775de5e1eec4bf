"""Backups of a whole server and how they are put back: docs/operate.md.

A backup is a folder or a place in an object store:

    manifest.json          written last: a backup without it is not finished
    redis-0.rdb …          one snapshot for each primary, as Redis itself writes them
    archive/YYYY/MM/DD/…   the records, as they lie in the archive
    records.sha256         the hash of each of them
    names.sqlite3          what accounts were called
    settings.json          the settings, without secrets: to be read, not put back
"""
