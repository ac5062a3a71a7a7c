"""Two-body mechanics and planet states: scalar routines for one arc, numpy ones for many.

Units are km, km/s, seconds and radians; epochs are MJD UTC in days. Vectors are heliocentric in
J2000 equatorial (ICRF) axes unless a docstring says otherwise.
"""
