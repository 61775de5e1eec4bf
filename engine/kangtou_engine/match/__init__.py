"""The match layer: what is common to all games (rules CM-…)."""
