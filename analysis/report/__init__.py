"""One HTML file that shows a study: methods, runs, iterations, with everything they hold.

The file needs no network and no other file. `packing.py` says how it is put together, `study.py`
what the small index holds, `rows.py` what a run's page needs of each iteration and `details.py`
what an opened iteration shows. What the reader sees is in `page/`: plain HTML, CSS and JavaScript
that are put into the file as they are.
"""
