"""Designs: five complete single-table designs to read, to run and to copy.

Each design is a package:

    __init__.py    the key chart and the design decisions; in a short design, also the code
    entities.py    the table and its entities
    patterns.py    the access patterns
    samples.py     sample data, for `tablewright verify` and `tablewright publish docs`
    checks.py      the expected result of each pattern, for `tablewright verify`; if the sample data
                   are few lines, also these

To copy a design, copy its package and replace the name of the package in its imports. A design must
not import its samples or checks, so that it can be copied without them.
"""
