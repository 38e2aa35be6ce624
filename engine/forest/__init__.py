"""Trees as arrays, shared by plug-ins."""
