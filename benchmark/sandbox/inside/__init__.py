"""The two modules that also run inside the sandbox: standard library only, numpy when loaded."""
