"""Several nodes on one machine, each on a loopback address of its own; and Redis Clusters."""
