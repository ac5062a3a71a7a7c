"""Orbital dynamics: propagation, Lambert's problem, gravity assists."""
