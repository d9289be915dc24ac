"""Rules of requests: patterns that read or write more than they need."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

from tablewright.model.pattern import AccessPattern
from tablewright.plan.reads.transact_get import TransactGet
from tablewright.plan.writes.transaction import Transaction
from tablewright.publish.advice.facts import TableFacts
from tablewright.publish.advice.finding import Problem, Rule
from tablewright.publish.advice.source import place_of_pattern


def single_item_transaction(facts: TableFacts) -> Iterator[Problem]:
    """Find transactions of one item, which costs twice as much as without one."""
    for use in facts.uses:
        pattern, plan = use.pattern, use.pattern.plan
        if isinstance(plan, Transaction) and len(plan._writes) == 1:
            step = plan._writes[0]._shape()
            if step.operation == "TransactWriteItems" or not _has_fixed_length(pattern):
                continue  # a sentinel or an event is written with it
            yield Problem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction writes one item: about {pattern.shape.write_units:g} write units "
                f"instead of {step.write_units:g}",
                "return the write itself, without transact(…)",
            )
        elif isinstance(plan, TransactGet) and len(plan._gets) == 1 and _has_fixed_length(pattern):
            yield Problem(
                place_of_pattern(pattern),
                f"{pattern.name}()",
                f"the transaction reads one item: about {pattern.shape.read_units:g} read units "
                f"instead of {pattern.shape.read_units / 2:g}",
                "return …primary(…).consistent(), without transact_get(…)",
            )


def _has_fixed_length(pattern: AccessPattern) -> bool:
    """Return whether the source of a pattern has no arguments for a list: `transact(*writes)`."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(pattern.function)))
        return not any(isinstance(node, ast.Starred) for node in ast.walk(ast.parse(source)))
    except (OSError, SyntaxError):
        return False


RULES = (
    Rule(
        "single-item-transaction",
        "warning",
        "A transaction of one item",
        single_item_transaction,
    ),
)
