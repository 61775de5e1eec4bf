"""The rules of Kangtou's games: pure values, no clock, no chance, no IO."""
