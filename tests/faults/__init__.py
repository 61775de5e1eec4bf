"""Real processes, killed in earnest."""
