"""Version 1 of the internal link."""
