"""Module names of published programs; everything here is done by :mod:`orbits`."""
