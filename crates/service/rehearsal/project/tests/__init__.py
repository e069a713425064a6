"""Tests; `python -m unittest` finds them."""
