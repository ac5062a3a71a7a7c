"""Where jobs of a sweep are done: here in child processes, or as tasks of a Ray cluster.

The doors are in :mod:`method.executors.jobs`; what a job does is in :mod:`method.executors.work`,
the same code for every executor.
"""
