"""One mistake a line, as in `mistakes.py`: the misuse of the entities in `kinds.py`.

mypy does not check the bound of a type variable of `self`, so one line is for pyright alone.
"""

from __future__ import annotations

from tablewright import put, update
from typing_tests.kinds import Draft, Entry

put(Entry(entry_id="E1"))  # E: it is written once
update(Entry(entry_id="E1"), Entry.text.set("x"))  # E: it is written once
Entry.primary("E1").update(Entry.text.set("x"))  # E (pyright): it is written once
Draft.primary("D1").update(Entry.text.set("x"))  # E: an attribute of another entity
