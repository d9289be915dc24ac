"""The studio: a design and its data in the browser.

    server      listens on loopback, and runs a view for each request in a thread
    http        requests and responses, and the connection that reads and writes them
    access      who may use the studio: Host, token, cookie, Origin; the security headers
    routes      URL -> view
    views/      one module for each view: a function from a request to a page or a response
    frame       what surrounds each page: navigation, search, target, footer
    parts       what pages share: chips, keys, values, code, tables of facts
    workspace   the design and the target: databases, tables, what may be written
    hues        the colour of each entity, and of each attribute that identifies one
    forms       the parameters of patterns as typed fields; form_values: texts and values
    running     runs a read and records its requests; result_parts, run_parts: as markup
    overlay     a transport that keeps writes in memory, above a target that is only read
    preview     what a write would do; applying: do exactly that, or nothing; pending: until then
    code/       the same as Python, boto3, AWS CLI and PartiQL
    static/     style sheet, scripts, icon

What views show, without markup:

    layout, kinds           the keys of a table at the target; what an item is in the design
    item_page               a filter -> a Query or a Scan -> one page of items
    places, neighbours      where an item is in each index, or why not; what is next to it
    lookups, relations      one request for the items of an entity; what belongs to an item
    finding, editing        ids and unique values -> items; the plans of edits and deletions
    inventory, exporting    the tables of a target; items as files, page by page
    inferring               a design in memory for a table that has none
    statements, similar     PartiQL: plan, page, preview; patterns that read with the same key
    changes                 what happens to items, from streams

    GET /items/shop?pk=USER%231  ──http──▶ Request ──access──▶ ──routes──▶ views.items.show
                                 ◀──http── Response ◀──frame── Page ◀──────────┘

Invariants:
- Pages are made on the server. Scripts only replace parts of a page by parts of another one, so
  every view works without scripts, except the live one.
- Every text is escaped where it becomes markup (`publish.html.element`).
- GET changes nothing. What changes data is sent by `Workspace.transport`, which refuses it if
  the target is read-only.
- A view reads one page of data, however large the table is.
"""
