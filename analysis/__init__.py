"""From published numbers and from run folders to tables, figures and statistics.

Nothing of the paper stands in this code: published numbers are read from a folder of CSV files
(`results/published`), tasks and their anchors from the catalogue, own runs from their folders.
"""
