"""A table host over its link. Design §1, §4."""
