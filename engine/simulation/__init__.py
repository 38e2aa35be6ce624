"""Event loops over arrival times: what a queue, a batcher or a fleet does to every single request."""
