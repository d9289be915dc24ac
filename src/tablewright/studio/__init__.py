"""The studio: a design and its data in the browser.

    workspace   the design with its findings and costs, and the target: databases, tables, what may
                be written
    views/      one module for each view: a function from a request to a page or a response
    web/        the server with its routes, http, access (Host, token, cookie, Origin), and the
                frame of pages
    markup/     one vocabulary of pages (`parts`), and what several views show: items, forms,
                previews, runs
    items/      what an item is, where it is in each index, what belongs to it; pages and searches
    patterns/   parameters as typed forms; runs and their requests; programs that do the same
    writes/     previews of writes, on an overlay above the target; applying what one has shown
    target/     tables, changes as they happen, statements, designs inferred from items
    static/     style sheet, scripts, icon

    GET /items/shop?pk=USER%231  ──http──▶ WebRequest ──access──▶ ──server──▶ items.show
                                 ◀──http── WebResponse ◀──frame── WebPage ◀────────┘

Invariants:
- Pages are made on the server. Scripts only replace parts of a page by parts of another one, so
  every view works without scripts, except the live one.
- Every text is escaped where it becomes markup (`presentation.element`).
- GET changes nothing. `Workspace.transport` sends every request that changes data, and refuses it
  if the target is read-only.
- A view reads one page of data, however large the table is.
"""
