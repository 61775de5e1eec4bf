"""Statistics over records: counted as they stream by, or as Parquet tables for one's own queries. docs/study.md.

tally     one row of a table: counts, means, shares, think times, in memory that does not grow with them
stats     rows by game, variant, seat, player, hand
sources   records of files, folders, dumps
parquet   tables of matches, seats, rounds and moves (extra `analysis`)
queries   DuckDB over these tables, with ready-made queries (extra `analysis`)
"""
