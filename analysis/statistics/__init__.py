"""Statistics of runs on tasks: aggregates, intervals, tests, ranks, profiles, anytime curves.

All take plain numbers (NDG in percent unless said otherwise) and know no file and no method.
"""
