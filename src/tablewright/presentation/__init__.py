"""Presentation: what people see of designs, items, keys, requests and statements.

    blocks      the parts of a document, in order; Markdown
    values      a stored value as text; counts and sizes
    keys, hues  keys in pieces, the kinds of items, and their colours
    results     results of plans, and entities, as nodes with values
    conditions  key conditions line by line
    key_map, erd, erd_svg, layers    the key map and the entity-relationship diagram
    terminal    items, entities and results as tables, fields and trees (rich)
    element, style, page             HTML: elements, the style sheet, blocks as one page

The command line, the studio and the document of a design use it. What is shown is decided here
once; the renderers decide how. This package must not know commands, pages of the studio, targets.
"""
