"""What candidates may import inside the sandbox; the evaluator builds on ``orbits`` too.

The folder is shown read-only and put on ``sys.path``, so nothing in it may import from outside
but the standard library and numpy, and nothing in it may know how trajectories are scored.
"""
