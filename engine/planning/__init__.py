"""From measured times to machines and money: numbers in, numbers out, never a model."""
