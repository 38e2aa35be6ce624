"""A fleet that grows and shrinks with its traffic: one queue, replicas that take time to start, rules that decide."""
