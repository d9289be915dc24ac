"""One library in a process of its own: `python -m benchmarks.peers.libraries.client MODULE …`.

The first line on standard output describes the library. Then each line on standard input is a
command, and each line on standard output its result. Nothing but the library, the sample and the
standard library is imported, and a round of calls is measured as a whole: the CPU time of the
process with all of its threads, and the wall time.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import importlib
import inspect
import io
import json
import sys
import time
import tokenize
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks.peers.libraries import sample
from benchmarks.peers.libraries.sample import Orders

PACKAGE = __package__ or ""
#: The design of our package, and what the operations use of it: a user writes these lines, too.
DESIGN = "tablewright.designs.commerce"
USED = (
    *("Commerce", "CustomerOrder", "OrderLineItem", "OrderStatusEvent", "OrderWithItems"),
    *("create_order_with_items", "order_header", "order_with_items", "customer_timeline_page"),
    "update_order_status_with_history",
)

#: The arguments of each operation for order `n`; they are prepared before a round.
ARGUMENTS: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "create": lambda n: (sample.new_order(n),),
    "get": lambda n: (sample.customer_id(n), sample.order_id(n)),
    "load": lambda n: (sample.customer_id(n), sample.order_id(n)),
    "timeline": lambda n: (sample.customer_id(n),),
    "change_status": lambda n: (sample.status_change(n),),
}


def main() -> None:
    module_name, target, table = sys.argv[1:]
    try:
        module = importlib.import_module(f"{PACKAGE}.{module_name}")
    except ModuleNotFoundError as error:
        print(json.dumps({"missing": f"there is no module {error.name}"}), flush=True)
        return
    with asyncio.Runner() as runner:
        is_async = inspect.iscoroutinefunction(module.open_orders)
        run: Callable[[Any], Any] = runner.run if is_async else lambda result: result
        orders: Orders = run(module.open_orders(target, table))
        facts = {
            "version": version(module.DISTRIBUTION),
            "is_async": is_async,
            "lines": lines_of_code(),
        }
        print(json.dumps(facts), flush=True)
        gc.freeze()  # garbage collection stays enabled, but skips what was imported
        for line in sys.stdin:
            command = json.loads(line)
            operation, numbers = command["operation"], command["numbers"]
            call = getattr(orders, operation)
            arguments = [ARGUMENTS[operation](n) for n in numbers]
            if command["check"]:
                results = [run(call(*each)) for each in arguments]
                result = [*map(partial(unexpected, operation), numbers, results)]
            else:
                result = [*run((measured_async if is_async else measured)(call, arguments))]
            print(json.dumps(result), flush=True)
        run(orders.close())


def measured(call: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> tuple[float, float]:
    """Return the wall time and the CPU time of the calls, in seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    for each in arguments:
        call(*each)
    return time.perf_counter() - wall, time.process_time() - cpu


async def measured_async(
    call: Callable[..., Awaitable[Any]], arguments: Sequence[tuple[Any, ...]]
) -> tuple[float, float]:
    """Do the same in an event loop, one call after the other."""
    wall, cpu = time.perf_counter(), time.process_time()
    for each in arguments:
        await call(*each)
    return time.perf_counter() - wall, time.process_time() - cpu


def unexpected(operation: str, n: int, result: Any) -> str:
    """Return what differs between the result of a call and the sample, or an empty text."""
    new = sample.new_order(n)
    order = (new.customer_id, new.order_id, new.created_at, "CREATED", new.total, 1)
    if operation == "create":
        return ""
    found: tuple[object, ...]
    expected: tuple[object, ...]
    if operation == "get":
        found, expected = sample.order_values(result), order
    elif operation == "change_status":
        found, expected = sample.order_values(result), (*order[:3], "PAID", new.total, 2)
    elif operation == "load":
        root, lines = result
        found = (sample.order_values(root), *map(sample.line_values, lines))
        ids = (new.customer_id, new.order_id)
        expected = (order, *((*ids, *line, "PENDING") for line in new.lines))
    else:
        page, cursor = result
        found = (*(order.order_id for order in page), bool(cursor))
        first = n - n % sample.ORDERS_OF_A_CUSTOMER
        last = first + sample.ORDERS_OF_A_CUSTOMER - 1
        expected = (*(sample.order_id(last - at) for at in range(sample.PAGE)), True)
    return "" if found == expected else f"{operation} returned {found}, not {expected}"


def lines_of_code() -> int:
    """Count the lines that a user of the library writes: its models and the operations."""
    written = [
        module
        for name, module in sys.modules.items()
        if name.startswith(f"{PACKAGE}.") and module is not sample
    ]
    design = vars(sys.modules[DESIGN]) if DESIGN in sys.modules else {}
    used = [design[name] for name in USED if design]
    return sum(code_lines(inspect.getsource(thing)) for thing in (*written, *used))


def code_lines(source: str) -> int:
    """Count the lines of a source without imports, docstrings, comments and blank lines."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant()):
                lines -= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return len(lines)


if __name__ == "__main__":
    main()
