"""One look at a history: all steps, and those that count for the caller."""

from collections.abc import Callable
from dataclasses import replace

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Missing
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.contents import Contents
from fsagent_tools.history.live import Disk
from fsagent_tools.history.timeline import Step, Timeline, steps_of


class HistoryView:
    """counts: whether a step is one of the caller's."""

    def __init__(self, archive: Archive, disk: Disk, counts: Callable[[Step], bool]) -> None:
        self._archive, self._disk, self._counts = archive, disk, counts
        lines = archive.lines()
        self._all = steps_of(lines)
        self.timeline = Timeline(step for step in self._all if counts(step))
        self.contents = Contents(archive, lines, disk)

    def fresh(self) -> Contents:
        """The contents as they are after old files were moved."""
        return Contents(self._archive, self._archive.lines(), self._disk)

    def mark(self, name: str) -> Step:
        """The checkpoint or step with that ID, of whatever session. Raises `Missing`."""
        found = next((step for step in reversed(self._all) if step.id == name), None)
        if found is None:
            newest = ", ".join(step.id for step in self.timeline.steps[-3:][::-1])
            raise Missing(
                f"There is no checkpoint or step {name!r} in the history.",
                hint=f"It may be older than what is kept. The newest are: {newest or 'none'}.",
            )
        return found

    def since(self, mark: Step) -> list[Step]:
        """The caller's steps after `mark`, and those of the session that made it."""

        def counts(step: Step) -> bool:
            same = step.thread == mark.thread if mark.thread else step.session == mark.session
            return step.at > mark.at and (same or self._counts(step))

        return [step for step in self._all if counts(step)]

    def visible(self, step: Step) -> Step:
        """The step without what the policy closes."""
        seen = [one for one in step.changes if not self._disk.closed(one.path, Effect.READ)]
        return replace(step, changes=tuple(seen))
