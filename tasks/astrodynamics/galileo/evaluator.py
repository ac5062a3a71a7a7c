"""Earth to capture at Jupiter, flybys of Venus and Earth allowed.

Minimise the total delta-v. The rules are those of every tour (``tasks/astrodynamics/tour.py``); the
instance is ``data/problem.json`` beside this file.
"""

from tasks.astrodynamics.tour import Tour

EVALUATOR = Tour
