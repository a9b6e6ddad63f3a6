"""What both ends agree upon: keys of `_meta`, beside the protocol's own, and what a token is."""

from fsagent_tools.errors import ConfigInvalid

_OURS = "io.github.fsagent-tools/"
SESSION = f"{_OURS}session"  # of a call: the name of its session
CALL = f"{_OURS}call"  # of a call: what it is called, without blanks
SCOPE = f"{_OURS}scope"  # of a call: where CALL is unique; the call runs once
ASK = f"{_OURS}ask"  # of a call, true: tell what would change, as if approval were needed
WHOLE = f"{_OURS}whole"  # of a call, true: structured content is all of `Outcome.to_dict()`, sliced
CODE = f"{_OURS}code"  # of a result: `Outcome.code`
EFFECT = f"{_OURS}effect"  # of a tool
SHAPE = f"{_OURS}shape"  # of a tool: how its document shapes what `to_dict()` gives
REQUEST = f"{_OURS}request"  # of a result that requires an answer: `Request.to_dict()`
ANSWER = "approval"  # a request for input, and the answer to it
ROOTS = "roots"  # another


def check_token(token: str) -> None:
    """Raises `ConfigInvalid`."""
    if not (token.isascii() and token.isprintable() and token == token.strip()):
        raise ConfigInvalid("token has characters that no header can carry, such as a line break.")
