"""Keys of `_meta` beside the protocol's own, and what a token is."""

from fsagent_tools.errors import ConfigInvalid

_OURS = "io.github.fsagent-tools/"
SESSION = f"{_OURS}session"  # of a call: the name of its session
REQUEST = f"{_OURS}request"  # of a result that requires an answer: `Request.to_dict()`
ANSWER = "approval"  # a request for input, and the answer to it
ROOTS = "roots"  # another


def check_token(token: str) -> None:
    """Raises `ConfigInvalid`."""
    if not (token.isascii() and token.isprintable() and token == token.strip()):
        raise ConfigInvalid("token has characters that no header can carry, such as a line break.")
