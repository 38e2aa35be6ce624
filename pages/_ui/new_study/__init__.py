"""The three steps of New study: the model, the data, the promise."""
