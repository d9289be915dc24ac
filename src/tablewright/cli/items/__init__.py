"""The commands that read and write items of a table, without a design."""
