"""The router around a Python policy: what the Rust crate is for policies in Rust.

The package runs inside the sandbox, next to the candidate, so it imports nothing but the standard
library. Both engines follow the same rules to the bit (random numbers, orders of lists, ties), so
the same policy inserts the same SWAPs in both. What comes out is checked by somebody else.
"""

from .errors import RouterError

__all__ = ["RouterError"]
