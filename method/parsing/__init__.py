"""Reading what models answer: JSON objects, SEARCH/REPLACE edits, whole programs."""
