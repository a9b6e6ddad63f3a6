"""A sink that makes an OpenTelemetry span of each call."""

import json
import time
from collections.abc import Mapping
from typing import Any

from fsagent_tools.errors import MissingDependency
from fsagent_tools.events import Sink

MS = 1_000_000  # ns
_OF_SPAN = ("time", "duration_ms", "tool", "mark", "code")
_NAMES = {  # attribute -> field of a record
    **{f"gen_ai.tool.{own}": name for own, name in (("name", "tool"), ("call.id", "call"))},
    **{f"fsagent.{name}": name for name in ("run", "tenant", "effect", "code", "paths")},
    **{"gen_ai.conversation.id": "session", "user.id": "user", "process.exit.code": "exit_code"},
}


def spans(inner: Sink | None = None) -> Sink:
    """For `EventLog(spans())`: spans `execute_tool NAME` in the caller's trace.

    Attributes follow the semantic conventions for generative AI and for processes; arguments and
    answers are among them with `EventLog(..., content=True)`. What was no call, such as a
    checkpoint, is an event of the caller's span. inner: a sink told as well. Needs the extra
    `otel` (opentelemetry-api); where the spans go is the host's set-up.
    """
    try:
        from opentelemetry.trace import SpanKind, StatusCode, get_current_span, get_tracer
    except ImportError:
        hint = 'Install "fsagent-tools[otel]".'
        raise MissingDependency("Spans need opentelemetry-api.", hint=hint) from None
    tracer = get_tracer("fsagent_tools")

    def end(record: Mapping[str, Any]) -> None:
        now = time.time_ns()
        if "mark" in record:
            get_current_span().add_event(f"fsagent.{record['mark']}", _plain(record))
        else:
            name, began = f"execute_tool {record['tool']}", now - int(record["duration_ms"] * MS)
            facts, kind = _attributes(record), SpanKind.INTERNAL
            span = tracer.start_span(name, kind=kind, start_time=began, attributes=facts)
            if record["code"] != "OK":
                span.set_status(StatusCode.ERROR, record.get("reason"))
            span.end(now)
        if inner:
            inner(record)

    return end


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: record.get(own) for name, own in _NAMES.items()}
    found |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
    found["error.type"] = None if record["code"] == "OK" else record["code"]
    if "arguments" in record:
        arguments = json.dumps(record["arguments"], ensure_ascii=False, default=str)
        found["gen_ai.tool.call.arguments"] = arguments
        found["gen_ai.tool.call.result"] = record["text"]
    return {name: value for name, value in found.items() if value is not None}


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a mark tells, without what the span has itself."""
    own = {f"fsagent.{name}": value for name, value in record.items() if name not in _OF_SPAN}
    plain = (str, int, float, bool)
    return {n: v if isinstance(v, plain) else str(v) for n, v in own.items() if v is not None}
