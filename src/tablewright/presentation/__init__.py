"""Presentation: what people see of designs, items, keys, requests and statements.

    blocks      the parts of a document, in order; Markdown
    values      a stored value as text; counts and sizes
    keys        keys in pieces; typed key values; keys as tokens
    kinds       the kinds of items
    results     results of plans, and entities, as nodes with values
    key_map, erd, erd_svg, layers    the key map and the entity-relationship diagram
    printing    lines, fields and tables on the terminal (rich)
    terminal    items, entities and results, printed as tables, fields and trees
    element, style, html_document    HTML: elements, colours and the style sheet, blocks as one page

The command line, the studio and the document of a design use it. What is shown is decided here
once; the renderers decide how. This package must not know commands, pages of the studio, targets.
"""
