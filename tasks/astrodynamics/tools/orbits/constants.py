"""Constants of the tasks: part of the problem, not the latest values."""

DAY_S = 86400.0
AU_KM = 1.495978707e8

MU_SUN = 1.32712440018e11
"""Gravitational parameter of the Sun, km^3/s^2."""

PLANETS = {
    "1": "Mercury",
    "2": "Venus",
    "3": "Earth",
    "4": "Mars",
    "5": "Jupiter",
    "6": "Saturn",
    "7": "Uranus",
    "8": "Neptune",
}
"""Names of the planet ids, which are NAIF barycentres ("3" is the Earth-Moon barycentre)."""

MU = {
    "1": 2.2032e4,
    "2": 3.24859e5,
    "3": 3.986004418e5,
    "4": 4.282837e4,
    "5": 1.26686534e8,
    "6": 3.7931187e7,
    "7": 5.793939e6,
    "8": 6.836529e6,
}
"""Gravitational parameters of the planets, km^3/s^2."""

RADIUS = {
    "1": 2440.0,
    "2": 6051.8,
    "3": 6378.137,
    "4": 3396.2,
    "5": 71492.0,
    "6": 60268.0,
    "7": 25559.0,
    "8": 24764.0,
}
"""Radii of the planets, km; flyby altitudes count from them."""

DEFAULT_FLYBY_ALTITUDE_KM = 200.0
"""Lowest flyby of a body for which the problem names none."""
