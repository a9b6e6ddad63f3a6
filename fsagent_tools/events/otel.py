"""A sink that makes an OpenTelemetry span of each call."""

import time
from collections.abc import Mapping
from typing import Any

from fsagent_tools.errors import MissingDependency
from fsagent_tools.events import Sink

MS = 1_000_000  # ns


def spans(inner: Sink | None = None) -> Sink:
    """For `EventLog(spans())`: spans `execute_tool NAME` in the caller's trace.

    Attributes follow the semantic conventions for generative AI. inner: a sink told as well.
    Needs the extra `otel` (opentelemetry-api); where the spans go is the host's set-up.
    """
    try:
        from opentelemetry.trace import SpanKind, StatusCode, get_tracer
    except ImportError:
        raise MissingDependency(
            "Spans need opentelemetry-api.", hint='Install "fsagent-tools[otel]".'
        ) from None
    tracer = get_tracer("fsagent_tools")

    def end(record: Mapping[str, Any]) -> None:
        now = time.time_ns()
        span = tracer.start_span(
            f"execute_tool {record['tool']}",
            kind=SpanKind.INTERNAL,
            start_time=now - int(record["duration_ms"] * MS),
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": record["tool"],
                "gen_ai.tool.type": "function",
                "fsagent.effect": record["effect"],
                "fsagent.code": record["code"],
                "fsagent.paths": record["paths"],
            },
        )
        if record["code"] != "OK":
            span.set_attribute("error.type", record["code"])
            span.set_status(StatusCode.ERROR)
        span.end(now)
        if inner:
            inner(record)

    return end
