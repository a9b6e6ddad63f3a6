"""The last few values, for what is asked again in pieces: long pages, long documents."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any


class Recent:
    """The last `most` values by key; threads may share it."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Any, Any] = OrderedDict()

    def keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def find(self, key: Any) -> Any:
        with self._lock:
            return self._values.get(key)

    def __iter__(self) -> Iterator[Any]:
        """The keys, the newest last."""
        with self._lock:
            return iter([*self._values])
