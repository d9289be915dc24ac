"""Design changes: how two versions of a design differ, and what follows from each difference.

kinds              the table of all kinds: what each needs, what breaks, when it can be undone
change             one change: its kind, where it is, and what was there before and after
pairing            which parts of two versions are the same part, perhaps renamed
visibility         which queries of a version read items that it does not know
attribute_changes  the changes of attributes
key_changes        the changes of keys, unique values and histories
comparison         from two descriptions to the changes between them

Each module imports only those before it.

Everything here is computed from descriptions (`design_description`): no table is read, nothing is
written.
"""

from __future__ import annotations

from tablewright.design_changes.change import DesignChange
from tablewright.design_changes.comparison import differences
from tablewright.design_changes.kinds import KINDS, ChangeKind, Need, Reading, Undo

__all__ = ["KINDS", "ChangeKind", "DesignChange", "Need", "Reading", "Undo", "differences"]
