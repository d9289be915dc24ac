"""MCP: a design and its data as tools for agents, by the Model Context Protocol.

    server   the tools and resources of a design
    answers  results that are bounded, and say how they were found

The package needs the SDK: `pip install 'tablewright[mcp]'`.
"""

from __future__ import annotations

try:
    import mcp as _  # noqa: F401  # the modules below need it
except ModuleNotFoundError as error:
    if error.name != "mcp":
        raise
    raise ModuleNotFoundError(
        "tablewright.mcp needs the SDK of MCP: pip install 'tablewright[mcp]'", name="mcp"
    ) from None

from tablewright.mcp.answers import RequestLog
from tablewright.mcp.server import make_server

__all__ = ["RequestLog", "make_server"]
