"""The program that the sandbox starts; it runs the candidate, whose text is an argument."""

from flight_deck import fly

__all__ = ["fly"]
