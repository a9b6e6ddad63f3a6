"""A part of a text, as deepagents shows it."""

from deepagents.backends.protocol import FileData, ReadResult


def window(text: str, offset: int, limit: int) -> ReadResult:
    """Lines `offset` (from 0) to `offset + limit` of a text, and where to read on."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return ReadResult(file_data=text_data(""))
    if offset >= len(lines):
        return ReadResult(error=f"Line offset {offset} exceeds file length ({len(lines)} lines)")
    shown = lines[offset : offset + limit]
    end = offset + len(shown)
    return ReadResult(
        file_data=text_data("\n".join(shown)),
        total_lines=len(lines),
        start_line=offset + 1,
        end_line=end,
        next_offset=end if end < len(lines) else None,
    )


def text_data(content: str) -> FileData:
    return FileData(content=content, encoding="utf-8")
