"""Deferred operations: their modules are imported with the first request.

PartiQL, exports and imports are a large part of the engine, and most programs never use them.
"""

from __future__ import annotations

from tablewright.engine.step import Step
from tablewright.wire import exports, statements


def execute_statement(request: statements.ExecuteStatementInput) -> Step:
    from tablewright.engine.operations.execute_statement import execute_statement as prepare

    return prepare(request)


def batch_execute_statement(request: statements.BatchExecuteStatementInput) -> Step:
    from tablewright.engine.operations.batch_execute_statement import (
        batch_execute_statement as prepare,
    )

    return prepare(request)


def execute_transaction(request: statements.ExecuteTransactionInput) -> Step:
    from tablewright.engine.operations.execute_transaction import execute_transaction as prepare

    return prepare(request)


def export_table_to_point_in_time(request: exports.ExportTableToPointInTimeInput) -> Step:
    from tablewright.engine.operations.exports import export_table_to_point_in_time as prepare

    return prepare(request)


def describe_export(request: exports.DescribeExportInput) -> Step:
    from tablewright.engine.operations.exports import describe_export as prepare

    return prepare(request)


def list_exports(request: exports.ListExportsInput) -> Step:
    from tablewright.engine.operations.exports import list_exports as prepare

    return prepare(request)


def import_table(request: exports.ImportTableInput) -> Step:
    from tablewright.engine.operations.imports import import_table as prepare

    return prepare(request)


def describe_import(request: exports.DescribeImportInput) -> Step:
    from tablewright.engine.operations.imports import describe_import as prepare

    return prepare(request)


def list_imports(request: exports.ListImportsInput) -> Step:
    from tablewright.engine.operations.imports import list_imports as prepare

    return prepare(request)
