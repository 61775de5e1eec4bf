"""The live log of a match and what lies beside it."""
