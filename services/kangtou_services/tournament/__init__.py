"""Tournaments of bots on duplicate boards: what is to be played, what was played, what it means."""
