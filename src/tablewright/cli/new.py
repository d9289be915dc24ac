"""The command that writes a new design: a module with its checks, and a test.

The design is small, but complete: two entities, an index, a unique value, an aggregate, reads and
writes. It passes `tablewright verify`, pytest and the type checkers as it is written, and is meant
to be changed. Both files are in the folder `texts`, with $name, $title and $table to replace.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from string import Template

import typer

from tablewright.cli.commands import DESIGNS, add_command, text_file
from tablewright.cli.failures import describe_error, fail
from tablewright.cli.options import argument
from tablewright.whole_file import create_whole


@add_command(DESIGNS)
def new(
    name: str = argument("NAME", "The name of the module and of its table."),
) -> None:
    """Write a small design, NAME.py, with its checks, and a test of it, test_NAME.py.

    Both pass as they are: `tablewright verify NAME.py` and `pytest`. No file is overwritten.
    """
    name = name.removesuffix(".py")
    design, test = text_file("new_design.txt"), text_file("new_test.txt")
    texts = {Path(f"{name}.py"): design, Path(f"test_{name}.py"): test}
    for file in texts:
        if file.exists():
            fail(f"{file} exists; choose another name, or remove it")
    check_name(name)
    title = name.replace("_", " ").capitalize()
    table = "".join(part.capitalize() for part in name.split("_"))
    if table in re.findall(r"\b[A-Z]\w+", design):  # a name that the module has already
        table += "Table"
    for file, text in texts.items():
        made = Template(text).substitute(name=name, title=title, table=table)
        try:
            with create_whole(file) as partial:
                partial.write_text(made, encoding="utf-8")
        except OSError as error:
            fail(f"{file}: {describe_error(error)}")
    typer.echo(f"{', '.join(map(str, texts))}: written")
    typer.echo(f"Next: tablewright verify {name}.py runs its checks, pytest its test.")


def check_name(name: str) -> None:
    """Fail unless a module and a table can have this name."""
    from tablewright.designs.catalog import BUNDLED

    if not re.fullmatch("[a-z][a-z0-9_]{2,}", name) or keyword.iskeyword(name):
        fail(
            f"{name!r} is not a valid module name; use three or more of a-z, 0-9 and _, but no "
            "keyword of Python"
        )
    if name in BUNDLED:  # `tablewright verify shop` would run the checks of the bundled design
        fail(f"{name!r} is the name of a bundled design; choose another name, such as my_{name}")
    # a file with the name of another module would be imported in place of it, or the reverse
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        fail(f"{name!r} is the name of another module that Python finds; choose another name")
