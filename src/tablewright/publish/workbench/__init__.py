"""NoSQL Workbench: a design as a model file of AWS's application.

model   the model of any design
frame   the members that an imported design keeps of its model file
"""

from __future__ import annotations

from tablewright.publish.workbench.model import WorkbenchModel, nosql_workbench

__all__ = ["WorkbenchModel", "nosql_workbench"]
