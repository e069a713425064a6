"""Notes from the command line."""
