"""Models: real ones through litellm, scripted ones, recordings, and the offline stand-in."""
