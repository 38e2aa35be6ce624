"""Supervise attempts; the runner."""
