"""Levers that change the format or simplify the graph."""
