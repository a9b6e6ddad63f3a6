"""Everything a tool call can refuse to do, in words a model can act on."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar


class ToolError(Exception):
    """A refusal: what is wrong, then what to do next.

    `code` is one word in upper snake case, which does not change between releases.

    Args:
        message: Shown to the model.
        hint: The next step, shown to the model.
        details: For the host only.

    Examples:
        >>> try:
        ...     Workspace(files=MemoryFiles({})).read_text("a.txt")
        ... except ToolError as error:
        ...     print(error.code)
        FILE_NOT_FOUND
    """

    code: ClassVar[str] = "ERROR"

    def __init__(
        self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = dict(details or {})

    def __str__(self) -> str:
        return sentences(self.message, self.hint)


def sentences(message: str, hint: str) -> str:
    """Both as one text: on one line, unless the message ends with a line of something else."""
    return f"{message}{hint}" if message.endswith("\n") else f"{message} {hint}".rstrip()


class InvalidArguments(ToolError):
    """An argument is missing, unknown, of the wrong type or out of range."""

    code = "VALIDATION_ERROR"


class InvalidPath(InvalidArguments):
    """A path no file system could hold: empty, NUL, lone surrogate, too long, reserved."""

    code = "INVALID_PATH"


class InvalidRegex(InvalidArguments):
    code = "INVALID_REGEX"


class InvalidGlob(InvalidArguments):
    code = "INVALID_GLOB"


class ConfigInvalid(ToolError):
    """A policy or configuration value that cannot be used; raised to the host."""

    code = "CONFIG_INVALID"


class Denied(ToolError):
    """The policy or the operating system forbids it."""

    code = "PERMISSION_DENIED"


class OutsideWorkspace(Denied):
    code = "PATH_OUTSIDE_WORKSPACE"


class PathDenied(Denied):
    code = "PATH_DENIED"


class ActionDenied(Denied):
    code = "ACTION_NOT_ALLOWED"


class ReadOnly(Denied):
    code = "READONLY"


class ApprovalDenied(Denied):
    """Whoever was asked said no."""

    code = "APPROVAL_DENIED"


class OutcomeUnknown(ToolError):
    """A remote call was begun, and how it ended is not known; it is not run again."""

    code = "OUTCOME_UNKNOWN"


class Missing(ToolError):
    """look: finds the hint, when somebody first reads it."""

    code = "FILE_NOT_FOUND"

    def __init__(
        self, message: str, *, hint: str = "", look: Callable[[], str] | None = None
    ) -> None:
        self._look = look
        super().__init__(message, hint=hint)

    @property
    def hint(self) -> str:
        if self._look:
            self._hint, self._look = self._look(), None
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = hint


class NotAFile(ToolError):
    code = "NOT_A_FILE"


class NotADirectory(ToolError):
    code = "NOT_A_DIRECTORY"


class AlreadyExists(ToolError):
    code = "ALREADY_EXISTS"


class LinkLoop(ToolError):
    code = "LINK_LOOP"


class TooLarge(ToolError):
    code = "FILE_TOO_LARGE"


class BinaryFile(ToolError):
    code = "BINARY_FILE"


class EncodingError(ToolError):
    """Bytes that no encoding explains, or text that the file's encoding cannot hold."""

    code = "ENCODING_ERROR"


class ReadFailed(ToolError):
    """The operating system failed a read."""

    code = "FILE_READ_ERROR"


class WriteFailed(ToolError):
    """The operating system failed a write; the old content is whole."""

    code = "FILE_WRITE_ERROR"


class Conflict(ToolError):
    """The file changed while it was being edited, or since it was read, if it is written whole."""

    code = "FILE_CHANGED"


class NotRead(ToolError):
    """A large file was to be changed that the session has not read."""

    code = "FILE_NOT_READ"


class NotReadYet(ToolError):
    """A line ID was used before the file had any."""

    code = "NO_LINE_INDEX"


class StaleLineIds(ToolError):
    code = "STALE_LINE_IDS"


class UnknownLineId(ToolError):
    code = "UNKNOWN_LINE_ID"


class InvalidChange(InvalidArguments):
    """Changes that contradict each other or would not do what the model seems to mean."""

    code = "INVALID_CHANGE"


class NoMatch(ToolError):
    code = "STRING_NOT_FOUND"


class MultipleMatches(ToolError):
    code = "MULTIPLE_MATCHES"


class TimedOut(ToolError):
    code = "TIMEOUT"


class Cancelled(ToolError):
    """The caller cancelled the task that made the call."""

    code = "CANCELLED"


class MissingDependency(ToolError):
    """An optional extra is not installed; the hint names it."""

    code = "MISSING_DEPENDENCY"


class CommandFailed(ToolError):
    """A process could not be started, or its sandbox could not be set up."""

    code = "COMMAND_FAILED"


class UnknownJob(ToolError):
    """No background command of this workspace has that id."""

    code = "JOB_NOT_FOUND"


class UnsafeUrl(Denied):
    code = "UNSAFE_URL"


class NetworkError(ToolError):
    code = "NETWORK_ERROR"


class TooManyRedirects(NetworkError):
    code = "TOO_MANY_REDIRECTS"


class HttpFailed(NetworkError):
    """The server answered, but with an error status; `details` holds `status`."""

    code = "HTTP_ERROR"


class NotConfigured(ToolError):
    """A service that needs a setting, such as a key, has none; the hint names the setting."""

    code = "NOT_CONFIGURED"


class Unauthorized(HttpFailed):
    """A service refused the key it was given."""

    code = "UNAUTHORIZED"


class RateLimited(HttpFailed):
    """A service asks to be called less often; `details` holds `retry_after` when it was given."""

    code = "RATE_LIMITED"


class NoLanguageServer(ToolError):
    """No language server is known or installed for the file; the hint says what to install."""

    code = "NO_LANGUAGE_SERVER"


class LanguageServerFailed(ToolError):
    """A language server could not be started, died or does not speak the protocol."""

    code = "LANGUAGE_SERVER_FAILED"


class InternalError(ToolError):
    """A bug; its traceback went to `logging`."""

    code = "INTERNAL_ERROR"


class LintRejected(ToolError):
    """The write would add a syntax error and the workspace refuses those."""

    code = "LINT_REJECTED"
