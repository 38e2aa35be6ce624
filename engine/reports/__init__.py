"""Tables and numbers: records in, rows or bytes out."""
