"""Schema: problem details in the OpenAPI schema of an application.

Each operation gets a default response: what it sends for every status that it does not list. It
replaces FastAPI's own description of the response 422, which has another format.
"""

from __future__ import annotations

from typing import Any

import pydantic
from fastapi import FastAPI

#: FastAPI's models of the response 422.
_REPLACED = ("HTTPValidationError", "ValidationError")
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


def describe_problems(app: FastAPI, media_type: str, model: type[pydantic.BaseModel]) -> None:
    """Describe problem details in the OpenAPI schema of the application, whenever it is made."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(make(), media_type, model)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's way to extend the schema


def _described(
    schema: dict[str, Any], media_type: str, model: type[pydantic.BaseModel]
) -> dict[str, Any]:
    prefix = "#/components/schemas/"
    own = model.model_json_schema(ref_template=prefix + "{model}")
    components = schema.setdefault("components", {})
    models = components.setdefault("schemas", {})
    models.update(own.pop("$defs", {}))
    models[model.__name__] = own
    components.setdefault("responses", {})[model.__name__] = {
        "description": "A problem.",
        "content": {media_type: {"schema": {"$ref": f"{prefix}{model.__name__}"}}},
    }
    for path in schema["paths"].values():
        for method, operation in path.items():
            if method in _METHODS:
                _describe(operation["responses"], f"#/components/responses/{model.__name__}")
    if prefix + _REPLACED[0] not in str(schema["paths"]):
        for name in _REPLACED:
            models.pop(name, None)
    return schema


def _describe(responses: dict[str, Any], reference: str) -> None:
    """Add the default response, unless there is one, and remove FastAPI's response 422."""
    if _REPLACED[0] in str(responses.get("422")):
        del responses["422"]
    responses.setdefault("default", {"$ref": reference})
