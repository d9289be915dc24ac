"""The five designs, each one readable file."""
