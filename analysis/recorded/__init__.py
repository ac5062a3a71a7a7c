"""Recorded runs of the paper's project page as run folders that the analysis reads.

The files themselves are not part of the project: a user downloads one and imports it. They hold
less than a trace of ours; what is unknown stays ``null`` and is never taken for zero.
"""
