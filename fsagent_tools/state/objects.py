"""Values in a bucket, an object each, by the conditional writes of obstore."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fsagent_tools.errors import ConfigInvalid, MissingDependency
from fsagent_tools.state.port import StateEntry, StateStore

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import AzureStore, GCSStore, MemoryStore, S3Store

    Bucket = AzureStore | GCSStore | MemoryStore | S3Store


class ObjectState(StateStore):
    """A `StateStore` in object storage: S3 and what speaks like it, Google Cloud, Azure.

    Args:
        bucket: Of `obstore.store`, such as `S3Store("my-bucket")`. A `LocalStore` cannot write on a
            condition; give its directory as `state` instead.
        prefix: What all keys begin with.

    Raises:
        ConfigInvalid: For another kind of store.
        MissingDependency: Without the extra `objects`.
    """

    def __init__(self, bucket: "Bucket", prefix: str = "fsagent") -> None:
        try:
            import obstore
            from obstore import exceptions, store
        except ModuleNotFoundError as error:
            raise MissingDependency(
                f"ObjectState: {error}.", hint="pip install 'fsagent-tools[objects]'"
            ) from error
        kinds = store.AzureStore, store.GCSStore, store.MemoryStore, store.S3Store
        if not isinstance(bucket, kinds):
            raise ConfigInvalid(
                f"bucket is an obstore store with conditional writes, not {bucket!r}.",
                hint=f"There are: {', '.join(kind.__name__ for kind in kinds)}.",
            )
        self._io, self._errors, self._bucket = obstore, exceptions, bucket
        self._prefix = f"{prefix.strip('/')}/"

    def __repr__(self) -> str:
        return f"ObjectState({self._bucket!r})"

    def get(self, key: str) -> StateEntry | None:
        with self._reached(), suppress(FileNotFoundError):
            found = self._io.get(self._bucket, self._prefix + key)
            return StateEntry(bytes(found.bytes()), found.meta["e_tag"])
        return None

    def create(self, key: str, data: bytes) -> Any:
        with self._reached(), suppress(self._errors.AlreadyExistsError):
            return self._io.put(self._bucket, self._prefix + key, data, mode="create")["e_tag"]
        return None

    def replace(self, key: str, data: bytes, tag: Any) -> Any:
        failed = (FileNotFoundError, self._errors.PreconditionError)
        with self._reached(), suppress(*failed):
            how: UpdateVersion = {"e_tag": tag}
            return self._io.put(self._bucket, self._prefix + key, data, mode=how)["e_tag"]
        return None

    def delete(self, key: str) -> None:
        with self._reached(), suppress(FileNotFoundError):
            self._io.delete(self._bucket, self._prefix + key)

    def list(self, prefix: str) -> Iterator[tuple[str, float]]:
        folder = f"{self._prefix}{prefix}".rpartition("/")[0]  # a bucket lists whole names only
        with self._reached():
            for found in (one for page in self._io.list(self._bucket, folder) for one in page):
                key = found["path"].removeprefix(self._prefix)
                if key.startswith(prefix):
                    yield key, found["last_modified"].timestamp()

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Raises `OSError` for what the service answers and is none of ours."""
        try:
            yield
        except self._errors.BaseError as error:
            raise OSError(f"{self!r}: {str(error).splitlines()[0]}") from error
