"""The application with all commands: importing this module registers them."""

from __future__ import annotations

from tablewright.cli import advise as _advise  # registers its commands
from tablewright.cli import backfill as _backfill
from tablewright.cli import cost as _cost
from tablewright.cli import credentials as _credentials
from tablewright.cli import designs as _designs
from tablewright.cli import explain as _explain
from tablewright.cli import files as _files
from tablewright.cli import infer as _infer
from tablewright.cli import new as _new
from tablewright.cli import patterns as _patterns
from tablewright.cli import publish as _publish
from tablewright.cli import read_items as _read_items
from tablewright.cli import serve_command as _serve_command
from tablewright.cli import shell as _shell
from tablewright.cli import shell_completion as _shell_completion
from tablewright.cli import sql as _sql
from tablewright.cli import studio as _studio
from tablewright.cli import tables as _tables
from tablewright.cli import topics as _topics
from tablewright.cli import transfer as _transfer
from tablewright.cli import write_items as _write_items
from tablewright.cli.commands import app, use_plain_help

__all__ = [
    "_advise",
    "_backfill",
    "_cost",
    "_credentials",
    "_designs",
    "_explain",
    "_files",
    "_infer",
    "_new",
    "_patterns",
    "_publish",
    "_read_items",
    "_serve_command",
    "_shell",
    "_shell_completion",
    "_sql",
    "_studio",
    "_tables",
    "_topics",
    "_transfer",
    "_write_items",
    "app",
]

use_plain_help(app)
