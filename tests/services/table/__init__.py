"""The table. Design §4, §5."""
