"""Source documents of the 31 tasks, one file each; `benchmark/oracle.py` reads them."""
