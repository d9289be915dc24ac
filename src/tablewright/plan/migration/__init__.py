"""Migration: carry stored items from one version of a design to the next, and back.

revision.py     what the record of a table says: the design that its items are prepared for, and how
                far a migration is
admission.py    which programs may use a table, and when a connected one notices a change
transition.py   how programs of the new version use items that are not rewritten yet
steps.py        the steps from one version to another, in their order
renames.py      the types and attributes that have other names
key_changes.py  the keys in indexes that two versions compose in another way
rewriting.py    from a stored item of one version to the item of the other
problems.py     the items that cannot be carried over, by attribute and reason
orphans.py      sentinels that reserve a value which no item has
write_rate.py   how fast a migration writes: units, or a share of the write capacity
sweep.py        read a whole table and write the items that differ, fenced and throttled
awaiting.py     the steps that a template does, and that an executor only waits for
executing.py    carry out the steps of a migration
migrate.py      the plans: baseline, apply, rollback, complete
inspecting.py   what a table records, and what comes next
"""
