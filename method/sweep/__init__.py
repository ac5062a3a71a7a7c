"""Many runs, or many evaluations, from one plan: nothing is done twice and nothing is lost.

:mod:`method.sweep.plan` reads a plan and :mod:`method.sweep.cells` makes jobs of it;
:mod:`method.sweep.ledger` remembers what became of each, :mod:`method.sweep.driver` gives them to
an executor within :mod:`method.sweep.purse`, and :mod:`method.sweep.status` shows it.
"""
