"""Pieces of the page of one study: its baseline, promise, levers and queue."""
