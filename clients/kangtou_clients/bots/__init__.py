"""Bots: programs that take seats through the client library, like anybody else."""
