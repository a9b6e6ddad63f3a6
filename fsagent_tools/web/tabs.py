"""Tabs and the panels behind them, of which a browser shows one and a reader wants all."""

from collections.abc import Mapping

TAB, PANEL = "tab", "tabpanel"
PANEL_CLASS = "tabbed-block"  # of Material for MkDocs, which gives no roles
_LONGEST = 1000  # characters of what a tab says
_LABELLED = "__tabbed_"  # what its labels are for


def tab_part(tag: str, attributes: Mapping[str, str]) -> str:
    """`TAB`, `PANEL` or "" for any other element."""
    role = attributes.get("role", "")
    if role in (TAB, PANEL):
        return role
    if attributes.get("class") == PANEL_CLASS:
        return PANEL
    return TAB if tag == "label" and attributes.get("for", "").startswith(_LABELLED) else ""


class Tabs:
    """What each tab says, told to its panel: by their ids, else in the order of both."""

    def __init__(self) -> None:
        self._named: dict[str, str] = {}  # ids of tabs and of their panels -> what the tab says
        self._unnamed: list[list[str]] = []  # of each list of tabs, those without a panel so far
        self._gathering = False

    def add(self, names: tuple[str, ...], said: str) -> None:
        """names: its id and its panel's, as far as it has them."""
        said = said[:_LONGEST]
        if names:
            self._named |= dict.fromkeys(names, said)
            return
        if not self._gathering:
            self._unnamed.append([])
        self._unnamed[-1].append(said)
        self._gathering = True

    def of(self, panel: Mapping[str, str]) -> str:
        """What the tab of this panel says, "" if there is none."""
        self._gathering = False
        for name in ("aria-labelledby", "id"):
            if said := self._named.get(panel.get(name, "")):
                return said
        while self._unnamed and not self._unnamed[-1]:
            self._unnamed.pop()
        return self._unnamed[-1].pop(0) if self._unnamed else ""
