"""Rules of the audit (analysis.md section 4), one module for each kind of evidence.

The rules are reconstructions: the paper names the behaviours, not how they were found. Each finding
therefore carries its evidence, and a person has the last word (:mod:`analysis.auditing.review`).
"""
