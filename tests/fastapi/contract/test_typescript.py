"""openapi-typescript makes a client from the document; its types and its calls are right."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine
from tablewright.fastapi import create_app
from tests.fastapi import shelf
from tests.fastapi.contract.served import serving
from tests.fastapi.shelf import Shelf
from tests.test_docs import ROOT

#: `make test-slow` installs it there; if it cannot, it says so.
MODULES = ROOT / ".schemathesis" / "node_modules"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not MODULES.is_dir(),
        reason="openapi-typescript is not installed",
    ),
]

CLIENT = """
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: process.argv[2] });

const path = { library: "L1" };
const made = await client.POST("/libraries/{library}/books", {
  params: { path },
  body: { isbn: "1", title: "Emma" },
});
const title: string | undefined = made.data?.title;

const key = { params: { path: { ...path, isbn: "1" }, header: { "if-match": '"1"' } } };
const changed = await client.PATCH("/libraries/{library}/books/{isbn}", {
  ...key,
  body: { title: "Emma, a novel" },
});
const version: number | undefined = changed.data?.version;
const stale = await client.PATCH("/libraries/{library}/books/{isbn}", {
  ...key,
  body: { title: "…" },
});
const page = await client.GET("/libraries/{library}/books/{isbn}/loans", {
  params: { path: { ...path, isbn: "1" }, query: { limit: 5 } },
});
const next: string | null | undefined = page.data?.next_cursor;
console.log(title, version, stale.error?.code, page.data?.items.length, next);
"""

SETTINGS = {
    "compilerOptions": {
        "strict": True,
        "target": "es2022",
        "module": "nodenext",
        "skipLibCheck": False,
        "types": [],
        "lib": ["es2022", "dom"],
    }
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the types of the API."""
    patterns: Any = [shelf.add_book, shelf.edit_book, shelf.loans]
    app = create_app(":memory:", Shelf, patterns=patterns)
    (tmp_path / "openapi.json").write_text(json.dumps(app.openapi()))
    (tmp_path / "tsconfig.json").write_text(json.dumps(SETTINGS))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "process.d.ts").write_text("declare const process: { argv: string[] };")
    (tmp_path / "node_modules").symlink_to(MODULES)
    tool = MODULES / ".bin" / "openapi-typescript"
    # Otherwise it requires fields that have a default.
    optional = "--default-non-nullable=false"
    made = run(tmp_path, str(tool), "openapi.json", "-o", "schema.ts", optional)
    assert made.returncode == 0, made.stderr
    return tmp_path


def compiled(folder: Path, program: str) -> str:
    (folder / "client.ts").write_text(program)
    return run(folder, str(MODULES / ".bin" / "tsc")).stdout


def test_a_client_calls_the_api(folder: Path) -> None:
    assert compiled(folder, CLIENT) == ""
    patterns: Any = [shelf.add_book, shelf.edit_book, shelf.loans]
    with Engine() as engine, serving(create_app(engine, Shelf, patterns=patterns)) as url:
        done = run(folder, "node", "client.js", url)
    assert done.stdout == "Emma 2 precondition_failed 0 null\n", done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('title: "Emma" }', "title: 5 }"),
        ('isbn: "1", title', "title"),
        ("{ limit: 5 }", '{ limit: "five" }'),
        ("loans", "lones"),
        ("made.data?.title", "made.data?.version"),
    ],
)
def test_a_wrong_call_is_a_type_error(folder: Path, right: str, wrong: str) -> None:
    assert right in CLIENT
    assert "error TS" in compiled(folder, CLIENT.replace(right, wrong))
