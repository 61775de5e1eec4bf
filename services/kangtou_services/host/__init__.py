"""A table host: many tables in one process, reached over the link. Runs inside a Ray actor, or alone for practice."""
