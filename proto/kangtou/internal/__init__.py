"""Messages between our own processes; no promise to others."""
