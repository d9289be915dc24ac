"""Database: the types that `connect` and `connect_async` return, for annotations.

    from tablewright.database import Database

    def place_order(db: Database, order: Order) -> None: ...

This module defines nothing. It must not be imported by the modules that it lists.
"""

from __future__ import annotations

from tablewright.model.databases.database import AsyncDatabase, Database

__all__ = ["AsyncDatabase", "Database"]
