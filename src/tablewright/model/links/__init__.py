"""Links: declare what belongs to an entity, and what happens to it when the entity is deleted.

    class Project(Entity, table=Tracker):
        name: Attr[str] = attr()
        primary = key("PROJECT" / name, "PROJECT")
        issues = cascade("Issue")                        deleted with the project
        notes = detach("Note.by_project")                stay, without the project
        invoices = restrict("Invoice")                   the project stays while there are any

    class Issue(Entity, table=Tracker):
        name: Attr[str] = attr()
        number: Attr[int] = attr()
        primary = key("PROJECT" / name, "ISSUE" / number)

    class Task(Entity, table=Tracker):
        task: Attr[str] = attr()
        owner: Attr[str | None] = attr(default=None)
        primary = key("TASK" / task, "TASK")
        user = reference("User", by=owner)               exists when a task is written

The other entity is given as a class, or by its name if it is declared later. The two are connected
when the second one is declared (`connecting.py`). A mistake raises DeclarationError then; a name
that is never declared, when a database is opened.
"""
