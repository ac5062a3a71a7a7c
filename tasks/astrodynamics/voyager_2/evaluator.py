"""Earth to a flyby of Neptune, flybys of Jupiter, Saturn and Uranus allowed.

Minimise the total delta-v. The rules are those of every tour (``tasks/astrodynamics/tour.py``); the
instance is ``data/problem.json`` beside this file.
"""

from tasks.astrodynamics.tour import Tour

EVALUATOR = Tour
