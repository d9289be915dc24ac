"""Infer: write a first design of an existing table from a sample of its items.

    sample         reads the items of a table, keeps some, finds their classes and variants
    regular        the items of a class that differ from nearly all others
    structure      literals and variables of key texts
    kinds          types of attributes, and their formats in keys
    attributes     what the items of a class store, and what that explains of their keys
    declaration    attributes, keys and places, as the module will declare them
    key_variables  keys, before and after attributes explain their variables
    entity         the declarations of one class of items
    sentinels      entities that only reserve a value of another one
    design         all entities, without collisions, and their names
    names          names and values as source text
    module         the source text
    model_file     the tables and rows of a model file of NoSQL Workbench
    patterns       an access pattern for each key, with checks
    evidence       how sure a design is: every item read and written back, and what it rests on
    comparison     the differences between a given design and the items
    imported       its design, with sample data and checks

Invariant: nothing is written to the table, and no text of an item becomes code.
"""

from __future__ import annotations

from tablewright.infer.comparison import Disagreement, compare
from tablewright.infer.design import infer_design
from tablewright.infer.evidence import Evidence, Proof, declare, evidence, prove
from tablewright.infer.imported import ImportedModel, import_model
from tablewright.infer.model_file import is_json, read_model
from tablewright.infer.module import write_module
from tablewright.infer.patterns import Functions, write_patterns
from tablewright.infer.sample import SAMPLE_SIZE, Sample, Sampling, read_sample

__all__ = [
    "SAMPLE_SIZE",
    "Disagreement",
    "Evidence",
    "Functions",
    "ImportedModel",
    "Proof",
    "Sample",
    "Sampling",
    "compare",
    "declare",
    "evidence",
    "import_model",
    "infer_design",
    "is_json",
    "prove",
    "read_model",
    "read_sample",
    "write_module",
    "write_patterns",
]
