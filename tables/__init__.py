"""The tables by family; `models.py` is their table of contents."""
