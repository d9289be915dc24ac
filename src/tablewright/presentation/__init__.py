"""Presentation: what people see of designs, items, keys, requests and statements.

    blocks      the parts of a document, in order; Markdown
    values      a stored value as text; counts and sizes
    keys        keys in pieces, the kinds of items, hues
    items       items and results as rows and cells, grouped by entity
    conditions  key conditions line by line
    key_map, erd, erd_svg, layers    the key map and the entity-relationship diagram
    terminal    rows, fields and trees in a terminal (rich)
    element, style, page             HTML: elements, the style sheet, blocks as one page

The command line, the studio and the document of a design use it. What is shown is decided here
once; the renderers decide how. This package must not know commands, pages of the studio, or targets.
"""
