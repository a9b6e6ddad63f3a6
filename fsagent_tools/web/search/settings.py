"""Which search service to ask, where and with which key."""

import os
from dataclasses import dataclass, field, replace

from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools.web.url import parse_url

PROVIDER = "FSAGENT_SEARCH_PROVIDER"
BASE_URL = "FSAGENT_SEARCH_BASE_URL"
API_KEY = "FSAGENT_SEARCH_API_KEY"
KEY_VARIABLES = {  # a key alone chooses its provider; the first one that is set wins
    "exa": "EXA_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "perplexity": "PERPLEXITY_API_KEY",
    "kagi": "KAGI_API_KEY",
    "google": "GOOGLE_CSE_KEY",
    "jina": "JINA_API_KEY",
}
KEYLESS = "duckduckgo"  # asked when nothing is set


@dataclass(frozen=True)
class SearchSettings:
    """provider: its name; base_url: "" for the provider's own; api_key: "" for none.

    Raises `ConfigInvalid` for a base_url that is not an http or https URL.
    """

    provider: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.base_url:
            try:
                parse_url(self.base_url, "base_url")
            except ToolError as error:
                raise ConfigInvalid(str(error)) from None

    @classmethod
    def from_environment(cls) -> "SearchSettings":
        """What FSAGENT_SEARCH_PROVIDER, _BASE_URL and _API_KEY say, else what a key implies.

        With none of them the service that needs no key.
        """
        named = os.environ.get(PROVIDER, "").strip().lower()
        implied = next((name for name, key in KEY_VARIABLES.items() if os.environ.get(key)), "")
        if implied and not named:
            return cls.of(implied)
        settings = cls.of(named or KEYLESS)
        return replace(
            settings,
            base_url=os.environ.get(BASE_URL, "").strip(),
            api_key=os.environ.get(API_KEY, "").strip() or settings.api_key,
        )

    @classmethod
    def of(cls, provider: str) -> "SearchSettings":
        """A provider at its own address with its own key, so that no key reaches another's."""
        return cls(provider, api_key=os.environ.get(key_variable(provider), "").strip())


def key_variable(provider: str) -> str:
    return KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
