"""JournalLine indexes that come back with the text they belong to."""

import json
from contextlib import suppress

from fsagent_tools.history.archive import Archive
from fsagent_tools.history.plan import Restoration
from fsagent_tools.session.memory import Session


def put_back(session: Session, archive: Archive, done: list[Restoration]) -> None:
    """Give each restored file the IDs that its lines had; those minted since are retired."""
    for one in done:
        if one.target.kind != "file":
            session.forget(one.path)
        elif one.data is None and (name := one.first.line.get("ids")):
            with suppress(OSError, ValueError):
                session.restore(one.path, json.loads(archive.file(name).read_bytes()))
