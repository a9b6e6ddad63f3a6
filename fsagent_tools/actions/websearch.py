"""Search the web."""

from dataclasses import dataclass

from fsagent_tools.deadline import Deadline
from fsagent_tools.errors import ConfigInvalid, NotConfigured
from fsagent_tools.policy.addresses import Guard
from fsagent_tools.sanitize import untrusted
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.web.client import WebClient, lacks_packages
from fsagent_tools.web.search import SearchSettings, provider_of, search

_MAX_RESULTS = 50
_MAX_BYTES = 5 * 2**20  # of a provider's answer


class WebsearchParams(Params):
    query: str = Field(min_length=1, max_length=2000, description="What to look for.")
    num_results: int = Field(10, ge=1, le=_MAX_RESULTS, description="How many results at most.")
    provider: str = Field("", description="Service to ask; default: the configured one.")
    timeout: int = Field(30, ge=1, le=300, description="Seconds.")


@dataclass(frozen=True)
class Results:
    """`results`: title, url, snippet, and published where the provider says so.

    answers: what the service says itself. failed: engines that did not answer.
    """

    results: list[dict[str, str]]
    answers: list[str]
    failed: list[str]

    def render(self) -> str:
        lost = f"Engines that failed: {'; '.join(self.failed)}." if self.failed else ""
        if not self.results and not self.answers:
            other = "Try again later." if lost else "Try other or fewer words."
            return " ".join(filter(None, ["No results.", lost, other]))
        rows = (_lines(n, row) for n, row in enumerate(self.results, 1))
        listed = "\n\n".join([*(f"Answer: {text}" for text in self.answers), *rows])
        return "\n".join(filter(None, [untrusted("web search results", listed), lost]))


def _lacks(workspace: Workspace) -> str:
    """What is missing of a configuration; where there is none, the tool itself says how."""
    settings = workspace.services.search or SearchSettings.from_environment()
    try:
        if settings.provider:
            provider_of(settings)
    except (NotConfigured, ConfigInvalid) as error:
        return str(error)
    return lacks_packages()


@action(effect=Effect.NETWORK, lacks=_lacks)
def websearch(workspace: Workspace, params: WebsearchParams) -> Results:
    """Search the web: titles, URLs and snippets. Read a page with `webfetch`."""
    settings = workspace.services.search or SearchSettings.from_environment()
    if params.provider and settings.provider != params.provider:
        settings = SearchSettings.of(params.provider)
    policy = workspace.policy
    guard = Guard(policy.opened_hosts, policy.closed_hosts)
    client = WebClient(
        guard, Deadline(params.timeout, "searching"), _MAX_BYTES, proxy=policy.tunnel
    )
    found = search(params.query, params.num_results, settings, client)
    return Results(found.hits, found.answers, found.failed)


def _lines(number: int, row: dict[str, str]) -> str:
    date = f" ({row['published']})" if "published" in row else ""
    indent = " " * (len(str(number)) + 2)
    lines = [f"{number}. {row['title']}{date}", indent + row["url"], indent + row["snippet"]]
    return "\n".join(filter(str.strip, lines))
