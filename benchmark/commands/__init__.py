"""One module for each group of commands; they import heavy things when they run."""
