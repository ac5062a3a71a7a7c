"""Our tasks inside other systems: OpenEvolve, SkyDiscover, SimpleTES and ShinkaEvolve.

Those systems evaluate a program with a function ``evaluate(program_path)`` that returns numbers,
among them ``combined_score``, higher is better. :func:`peer_evaluate` is that function for any
task, with :func:`benchmark.evaluate` and nothing else underneath; ``evoduet adapt`` writes the
folder that each system starts from (:mod:`benchmark.peers.folder`).

>>> from benchmark.peers import peer_evaluate
>>> peer_evaluate("mathematics/cp26", "my_program.py")["combined_score"]  # doctest: +SKIP
2.098
"""

from benchmark.peers.verdict import peer_evaluate, require

__all__ = ["peer_evaluate", "require"]
