"""What a file is that is no text, and which command shows more of it."""

import shlex
from typing import NamedTuple

from fsagent_tools.errors import BinaryFile


class FileFormat(NamedTuple):
    """What files are that hold `mark` at `at`. command: {} is the file's name."""

    mark: bytes
    at: int
    name: str
    command: str = ""


_PLAYS = "ffprobe -hide_banner {}"
_PARQUET = 'python -c "import pyarrow.parquet as p, sys; print(p.read_schema(sys.argv[1]))" {}'
_ARRAY = 'python -c "import numpy, sys; print(repr(numpy.load(sys.argv[1])))" {}'
_AS_PDF = "soffice --headless --convert-to pdf {}"
_TAR = FileFormat(b"ustar", 257, "a tar archive", "tar -tvf {}")
_FORMATS = (
    FileFormat(b"SQLite format 3\0", 0, "a SQLite database", "sqlite3 {} .schema"),
    FileFormat(b"PAR1", 0, "a Parquet table", _PARQUET),
    FileFormat(b"ARROW1", 0, "an Arrow table"),
    FileFormat(b"\x89HDF\r\n\x1a\n", 0, "an HDF5 file", "h5ls -r {}"),
    FileFormat(b"\x93NUMPY", 0, "a NumPy array", _ARRAY),
    FileFormat(b"PK\3\4", 0, "a zip archive", "unzip -l {}"),
    FileFormat(b"PK\5\6", 0, "an empty zip archive"),
    _TAR,
    FileFormat(b"\x1f\x8b", 0, "a gzip file", "gzip -dc {} | head -c 2000"),
    FileFormat(b"BZh", 0, "a bzip2 file", "bzip2 -dc {} | head -c 2000"),
    FileFormat(b"\xfd7zXZ\0", 0, "an xz file", "xz -dc {} | head -c 2000"),
    FileFormat(b"\x28\xb5\x2f\xfd", 0, "a zstd file", "zstd -dc {} | head -c 2000"),
    FileFormat(b"7z\xbc\xaf\x27\x1c", 0, "a 7z archive", "7z l {}"),
    FileFormat(b"Rar!\x1a\x07", 0, "a RAR archive", "unrar l {}"),
    FileFormat(b"\xd0\xcf\x11\xe0", 0, "an old or locked Office document", _AS_PDF),
    FileFormat(b"\x7fELF", 0, "a program or library", "file {}"),
    FileFormat(b"\0asm", 0, "a WebAssembly module", "wasm-objdump -h {}"),
    FileFormat(b"\xca\xfe\xba\xbe", 0, "a Java class", "javap {}"),
    FileFormat(b"wOF", 0, "a font"),
    FileFormat(b"OTTO", 0, "a font"),
    FileFormat(b"\0\1\0\0", 0, "a font"),
    FileFormat(b"WAVE", 8, "sound", _PLAYS),
    FileFormat(b"AVI ", 8, "a video", _PLAYS),
    FileFormat(b"ID3", 0, "sound", _PLAYS),
    FileFormat(b"\xff\xfb", 0, "sound", _PLAYS),
    FileFormat(b"OggS", 0, "sound or video", _PLAYS),
    FileFormat(b"fLaC", 0, "sound", _PLAYS),
    FileFormat(b"\x1a\x45\xdf\xa3", 0, "a video", _PLAYS),
    FileFormat(b"ftypheic", 4, "a HEIC picture", "heif-info {}"),
    FileFormat(b"ftyp", 4, "sound or video", _PLAYS),
)
HEAD = 512  # bytes that tell the kind
_TARS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")


def format_of(head: bytes, name: str) -> FileFormat | None:
    """By the first `HEAD` bytes; a compressed archive also by its name."""
    found = next((kind for kind in _FORMATS if head.startswith(kind.mark, kind.at)), None)
    if found and name.lower().endswith(_TARS):
        return _TAR._replace(name="a compressed tar archive")
    return found


def explained(refusal: BinaryFile, head: bytes, name: str) -> BinaryFile:
    """`refusal` of the file `name` with its kind and a next step, where they are known."""
    kind = format_of(head, name)
    if kind is None:
        return refusal
    argument = shlex.quote(f"./{name}" if name.startswith("-") else name)  # which is no option
    command = kind.command.format(argument)
    message = refusal.message.replace("a binary file", kind.name, 1)
    return BinaryFile(message, hint=command and f"With `bash`: {command}")
