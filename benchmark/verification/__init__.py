"""Verification: is a recorded score still what its program or artifact gets, here and now?

Each thing that may have changed (evaluator, data file, program, artifact, score) has a check of its
own with its own message, so that a report says what it was.
"""
