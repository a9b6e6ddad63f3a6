"""Many attempts at once: threads of this process, or tasks of a Ray cluster."""

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from errno import EDQUOT, ENOSPC, EROFS
from importlib import import_module
from typing import Any

from benchmark.agent.attempt import Job, Record, attempt
from benchmark.agent.models import NoWay, WrongKey
from benchmark.agent.source import Files

FULL = (ENOSPC, EDQUOT, EROFS)
AGAIN = 3  # further tries of an attempt that raised, or whose node was lost


def local(jobs: Sequence[Job], files: Files, parallel: int) -> Iterator[Record]:
    """Records as they come; an attempt that raises each time is told of, and has none.

    Raises `WrongKey`, `OSError` for a full disk, `NoWay` the third time; then begins no other.
    """
    pool, stop = ThreadPoolExecutor(parallel), threading.Event()
    try:
        for future in as_completed([pool.submit(tried, job, files, stop) for job in jobs]):
            if record := future.result():
                yield record
    finally:
        pool.shutdown(cancel_futures=True)


def tried(job: Job, files: Files, stop: threading.Event) -> Record | None:
    for number in range(0 if stop.is_set() else AGAIN):
        try:
            return attempt(job, files)
        except Exception as error:  # of any provider; the job stays open
            if ends(error, number):
                stop.set()
                raise
            told(job, number, error)
    return None


def ends(error: BaseException, number: int) -> bool:
    """Whether a further try, or another attempt, is of no use: no key, no disk, no way."""
    full = isinstance(error, OSError) and error.errno in FULL
    return isinstance(error, WrongKey) or full or (isinstance(error, NoWay) and number + 1 >= AGAIN)


def told(job: Job, number: int, error: Exception) -> None:
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    print(f"{job.task.id}, {job.contender}, try {number + 1}: {what}", file=sys.stderr, flush=True)


def on_ray(
    jobs: Sequence[Job], files: Files, parallel: int, address: str | None
) -> Iterator[Record]:
    """The same on a cluster: the repository is an object, a lost node's jobs go elsewhere.

    parallel: attempts under way at a time, in the whole cluster. address: of its head; None starts
    one on this machine. Raises as `local` does.
    """
    try:
        ray: Any = import_module("ray")
    except ModuleNotFoundError:
        raise SystemExit("--engine ray needs: pip install 'ray>=2.60'") from None
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    stored = ray.put(dict(files))
    work = ray.remote(num_cpus=1, max_retries=AGAIN, scheduling_strategy="SPREAD")(attempt)
    waiting = [(job, 0) for job in reversed(jobs)]
    under_way: dict[Any, tuple[Job, int]] = {}
    while waiting or under_way:
        while waiting and len(under_way) < parallel:
            job, number = waiting.pop()
            under_way[work.remote(job, stored)] = job, number
        (done, *_), _ = ray.wait([*under_way], num_returns=1)
        job, number = under_way.pop(done)
        try:
            yield ray.get(done)
        except Exception as error:  # noqa: BLE001  # of a provider, or of a lost node
            cause = getattr(
                error, "cause", error
            )  # Ray's own has the worker's traceback in its text
            if ends(cause, number):
                raise cause from None
            told(job, number, error)
            if number + 1 < AGAIN:
                waiting.append((job, number + 1))
