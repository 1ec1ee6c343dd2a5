"""The addresses and what they take, as an OpenAPI document."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

VALUE = {
    "description": 'A number, or a text such as "3,5" or "<0.05"; of several outcomes an object by their names.',
    "oneOf": [{"type": "number"}, {"type": "string"}, {"type": "object"}],
}
REASON = {"reason": {"type": "string"}, "who": {"type": "string"}}
STAMP = {"seen": {"type": "string", "description": "The trial's `seen`; 409 where it is another by now."}}
OUTCOME = {"outcome": {"type": "string", "description": "Which of several outcomes; all unless said."}}
MEASURED = {
    "value": VALUE,
    "sd": {"type": "number"},
    "n": {"type": "integer"},
    "source": {"description": "What measured it: a name, or an object by kinds."},
    "measured_at": {"type": "string"},
    "labels": {"type": "object"},
}
POINT = {"params": {"type": "object", "description": "Where it was measured."}}
ASK = {
    "n": {"type": "integer", "minimum": 1},
    "fixed": {"type": "object"},
    "measured_by": {"type": "string"},
    "source": {"type": "string", "description": "What measures: a name, or KIND=NAME."},
}
GETS = {
    "/": "What is to be measured now",
    "/trials": "All trials",
    "/trials/{number}": "One trial",
    "/values": "What is believed of each value; computed if need be, which takes seconds",
    "/best": "The best point, or the front; computed if need be",
    "/model": "How much the prediction varies with each parameter; computed if need be",
    "/compare": "The best so far of this study and of those beside it; computed if need be",
    "/events": "Server-sent events: how the study stands, whenever that changes",
    "/download/{name}": "trials.csv, trials.xlsx, to-measure.csv or to-measure.xlsx",
}
POSTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "/ask": ("The next points to measure; answered when they are there, which takes seconds", ASK, ["n"]),
    "/trials/{number}/tell": ("Record a value; on the disk when answered", MEASURED | POINT, ["value"]),
    "/trials/{number}/fail": ("A trial gave no value", REASON | STAMP, ["reason"]),
    "/trials/{number}/withdraw": ("Nobody will measure a trial", REASON | STAMP, ["reason"]),
    "/trials/{number}/requeue": ("Let a trial wait again", STAMP, []),
    "/trials/{number}/exclude": ("A value is wrong", REASON | STAMP | OUTCOME, ["reason"]),
    "/trials/{number}/include": ("A value is right", REASON | STAMP | OUTCOME, ["reason"]),
    "/trials/{number}/amend": ("Correct a value", {"value": VALUE} | REASON | STAMP, ["value", "reason"]),
    "/trials/{number}/measure-again": ("Let the point wait to be measured again", REASON, ["reason"]),
    "/trials/{number}/take-back": ("Take the last word on a trial back", STAMP, []),
    "/measurements": ("Record a value that nobody has asked for", MEASURED | POINT, ["params", "value"]),
}


def document(name: str) -> dict[str, Any]:
    """The OpenAPI document of a study's server.

    Args:
        name: Of the study.
    """
    paths: dict[str, dict[str, Any]] = {}
    for path, summary in GETS.items():
        paths[path] = {"get": {"summary": summary, "parameters": _parameters(path), "responses": _responses(422)}}
    for path, (summary, properties, required) in POSTS.items():
        schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
        body = {"required": True, "content": {"application/json": {"schema": schema}}}
        operation = {"summary": summary, "parameters": _parameters(path), "requestBody": body}
        paths.setdefault(path, {})["post"] = operation | {"responses": _responses(401, 404, 409, 422)}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"robustbo: {name}", "version": version("robustbo")},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": paths,
    }


def _parameters(path: str) -> list[dict[str, Any]]:
    kinds = {"number": "integer", "name": "string"}
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": kind}}
        for name, kind in kinds.items()
        if f"{{{name}}}" in path
    ]


def _responses(*codes: int) -> dict[str, Any]:
    meanings = {
        401: "The token is missing",
        404: "There is no such trial",
        409: "Somebody else has changed the trial: nothing was recorded; `recorded` has it as it is",
        422: "It cannot be done, as `error` says",
    }
    return {"200": {"description": "Done"}} | {str(code): {"description": meanings[code]} for code in codes}
