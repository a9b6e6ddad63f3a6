"""Edit a file by several quotes, each in what the ones before it made: all of them or none."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic import Field as Described

from fsagent_tools.actions.edit_lines import from_json
from fsagent_tools.answers.action import Effect, Field, Params, Workspace, action
from fsagent_tools.answers.edited import Edited, How, clipped, edited_of
from fsagent_tools.call import patience
from fsagent_tools.edits.finding import find
from fsagent_tools.edits.quotes import LOOKING, THRESHOLD, Evidence
from fsagent_tools.edits.telling import Telling, find_or_tell, lines_as_are, without_names
from fsagent_tools.errors import ToolError
from fsagent_tools.lines.diff import compared
from fsagent_tools.params.habits import under_shown_names
from fsagent_tools.services import lazy
from fsagent_tools.session.editing import editing
from fsagent_tools.session.review import LINT, Lint

_MORE = "Quote more of the lines around it."
_MOST = 1000  # edits of one call


class TextEdit(BaseModel):
    """A text, which has to be in the file once, and what replaces it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    old_string: str
    new_string: str


def edits_of(value: Any) -> Any:
    """Models send the list as JSON text, or one edit bare; other tools call the two otherwise."""
    value = from_json(value)
    edits = [value] if isinstance(value, dict) else value
    return [*map(_edit, edits)] if isinstance(edits, list) else edits


def _edit(value: Any) -> Any:
    if isinstance(value, TextEdit):
        return value
    names = [*TextEdit.model_fields]
    found = under_shown_names(value, names) if isinstance(value, dict) else {}
    if found.keys() != {*names} or not all(isinstance(text, str) for text in found.values()):
        raise ValueError("each one needs the text to replace and its replacement, and nothing else")
    return found


Edits = Annotated[list[TextEdit], BeforeValidator(edits_of)]
_TEXT = {"type": "string"}
_NAMED = {"type": "object", "properties": {"oldText": _TEXT, "newText": _TEXT}}
NamedByServer = Annotated[  # as the MCP filesystem server has them
    Edits,
    WithJsonSchema({"type": "array", "items": {**_NAMED, "required": [*_NAMED["properties"]]}}),
    Described(description="Replacements of unique texts, in this order."),
]


class EditTextsParams(Params):
    path: str = Field(description="File to edit.")
    edits: Edits = Field(
        min_length=1, max_length=_MOST, description="Replacements of unique texts, in this order."
    )
    dry_run: bool = Field(False, description="Only show the diff.")
    fuzzy_threshold: float | None = Field(
        THRESHOLD, gt=0, le=1, description="Least similarity of a line; null: exact text only."
    )
    lint: Lint | None = Field(None, description=LINT)


@dataclass(frozen=True)
class Previewed:
    """What edits would do."""

    path: str
    diff: str

    def render(self) -> str:
        return f"Nothing was written. The diff would be:\n{clipped(self.diff)}"


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def edit_texts(workspace: Workspace, p: EditTextsParams) -> Edited | Previewed:
    """Replace several texts in a file, all of them or none."""
    with editing(workspace, p.path, lint=p.lint) as edit:
        check = patience(LOOKING * len(p.edits), "Looking for the texts")
        lost = edit.record.lost
        evidence = Evidence(p.fuzzy_threshold, True, lazy.lint.judge(p.path), check, lost, p.path)
        evidence = evidence._replace(doubted=edit.document.seen.doubted)
        text, notes = edit.utf8, list[str]()
        crlf = 0 < text.count(b"\n") == text.count(b"\r\n")
        for number, one in enumerate(p.edits, 1):
            seek = partial(find, text, one.old_string, one.new_string, evidence=evidence)
            telling = Telling(partial(lines_as_are, text), check)
            try:
                found = find_or_tell(seek, text, one.old_string, telling)
            except ToolError as error:
                raise without_names(error, f"`edits` {number}", _MORE) from None
            before, text = text, found.apply(text)
            if crlf and b"\n" not in before:  # which nothing in between tells any more
                text = text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            strategy = "" if found.strategy == "exact" else found.strategy
            if fitted := ", ".join(filter(None, (strategy, found.how))):
                notes.append(f"edit {number}: {fitted}")
        if p.dry_run:
            edit.check(text)
            return Previewed(edit.path, compared(edit.path, edit.utf8, text))
        how = How(replacements=len(p.edits), note="; ".join(notes))
        return edited_of(edit, edit.replace(text), how, "none")
