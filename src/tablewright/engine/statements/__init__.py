"""PartiQL statements: which operations of the engine they become, and how these run.

    text -> PreparedStatement -> plan for a table -> response
            prepared             where, prepared     read, write

`prepared` parses and checks what needs no table, and keeps it for the next request with the same
text. `where` divides a WHERE clause into key conditions and filters; with them, `prepared` decides
between GetItem, Query and Scan. `explain` prints a plan. `read` and `write` run it with the
functions of the other operations. `access` says what a statement accesses, for policies.
"""
