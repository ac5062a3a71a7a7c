"""The paper's tables again: CSV with fixed columns, Markdown and LaTeX."""
