"""What a player's program needs at a table, whatever it draws with: choices, history, seating. It holds no rules."""
