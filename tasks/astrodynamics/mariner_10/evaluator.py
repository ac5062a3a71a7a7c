"""Earth to arrival at Mercury, flybys of Venus allowed.

Minimise the total delta-v. The rules are those of every tour (``tasks/astrodynamics/tour.py``); the
instance is ``data/problem.json`` beside this file.
"""

from tasks.astrodynamics.tour import Tour

EVALUATOR = Tour
