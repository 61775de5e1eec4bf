"""What the results mean: intervals, tests and strengths by sets. docs/duplicate.md, "Statistics".

intervals   means of sets with intervals, how many sets are needed
sequential  when an encounter may stop
strength    one number an entrant, over all that was played
variance    what duplicate sets save
places      how often an entrant came in where
"""
