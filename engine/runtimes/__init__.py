"""One runtime per file."""
