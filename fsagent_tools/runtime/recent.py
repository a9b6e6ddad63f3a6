"""The last few values, for what is asked again in pieces: long pages, long documents."""

import threading
from collections import OrderedDict
from typing import Any

_KEPT = 4


class Recent:
    """The last few values by key; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Any, Any] = OrderedDict()

    def keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > _KEPT:
                self._values.popitem(last=False)

    def find(self, key: Any) -> Any:
        with self._lock:
            return self._values.get(key)
