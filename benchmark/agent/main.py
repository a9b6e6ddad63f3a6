"""python -m benchmark live --model NAME [--set SET] [--repo PATH]: agents at real tasks.

Small bugs in a git repository (this one), or edits in published packages: a parameter renamed, a
function moved, types, f-strings, a function beside its like; --repo takes another repository. The
set `harness` has the tasks of harness-bench-fast, of which --repo is a checkout; with commands.

A model is what the framework calls it (`openai:gpt-5-mini`, `anthropic:claude-sonnet-4-5`); its key
comes from the environment. `scripted` costs nothing and knows the answers. `stdio` is whoever is at
standard input: a line of JSON each turn, back and forth. Goes on where it ended.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmark.agent.attempt import Job
from benchmark.agent.contenders import CONTENDERS
from benchmark.agent.engines import local, on_ray
from benchmark.agent.fetched import AnyTask
from benchmark.agent.leaderboard import page, table
from benchmark.agent.models import STDIO, NoWay, WrongKey, require
from benchmark.agent.sets import prepared
from benchmark.agent.source import Files
from benchmark.agent.standings import standings
from benchmark.picture import bars
from benchmark.progress import Progress
from benchmark.results import Record, Results
from fsagent_tools.toolsets.families import AUTO

KEYS = ("task", "contender", "model", "framework", "run")


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmark live", description=__doc__)
    add = parser.add_argument
    add("--set", choices=["bugs", "edits", "harness"], default="bugs", help="of tasks")
    add("--repo", type=Path, help="a repository that they are made of")
    add("--model", default="scripted")
    add("--framework", choices=["langchain", "llamaindex"], default="langchain")
    known = [*CONTENDERS, AUTO]
    add("--tools", nargs="+", choices=known, default=["lines", "compact", "deepagents"])
    add("--tests", default="", help="a command that decides, in place of the bytes")
    add("--tasks", type=int, default=25)
    add("--runs", type=int, default=1, help="of each task with each set of tools")
    add("--turns", type=int, default=40, help="most answers of a model")
    add("--parallel", type=int, default=2)
    add("--rate", type=float, help="requests a minute, of all attempts together")
    add("--price", nargs=2, type=float, default=(0, 0), metavar=("IN", "OUT"), help="of 1M tokens")
    add("--engine", choices=["local", "ray"], default="local")
    add("--address", help="of a Ray cluster's head; without one it is started here")
    add("--quick", action="store_true", help="four or five tasks, without network")
    add("--out", type=Path, default=Path("bench-results"))
    return parser.parse_args(words)


def main(words: list[str]) -> None:
    options = parsed(words)
    require(options.model, options.framework)
    files, chosen, where = prepared(options)
    if not chosen:
        raise SystemExit(f"No task could be made of {where}: is there Python in it?")
    results = Results(options.out / "live.jsonl", *KEYS)
    jobs = wanted(options, chosen)
    todo = [job for job in jobs if job.key not in results]
    progress, records = Progress("attempts", len(todo)), played(options, todo, files)
    ended = ""
    try:
        for record in records:
            results.add(record)
            progress.step()
    except (WrongKey, NoWay, OSError) as error:
        ended = (
            f"{told_of(error, options)}\nMend that and run this again: it goes on where it ended."
        )
    finally:
        with suppress(OSError):  # of a disk that was full before
            results.close()
    keys = {job.key for job in jobs}
    found = [record for record in results if results.key(record) in keys]
    title = f"{options.model}, {options.framework}: {len(chosen)} tasks in {where}"
    try:
        tell(options, title, len(jobs), found)
    except OSError as error:
        ended = ended or told_of(error, options)
    if ended:
        raise SystemExit(ended)


def wanted(options: argparse.Namespace, chosen: Sequence[AnyTask]) -> list[Job]:
    share = options.rate and options.rate / options.parallel
    kept = str(options.out / "played")
    return [
        Job(task, contender, options.model, options.framework, run, options.turns, share, kept)
        for run in range(options.runs)
        for task in chosen
        for contender in options.tools
    ]


def played(options: argparse.Namespace, todo: Sequence[Job], files: Files) -> Iterator[Record]:
    if options.engine == "ray":
        return on_ray(todo, files, options.parallel, options.address)
    return local(todo, files, 1 if options.model == STDIO else options.parallel)


def told_of(error: Exception, options: argparse.Namespace) -> str:
    """What ended a run, in a sentence."""
    if isinstance(error, WrongKey):
        return f"{options.model} refuses the key: {error}"
    if isinstance(error, NoWay):
        return f"{options.model} cannot be reached: {error}"
    return f"{getattr(error, 'filename', None) or options.out} cannot be written: {error.args[-1]}"


def tell(options: argparse.Namespace, title: str, jobs: int, found: list[Record]) -> None:
    """Table, picture and page of what was measured; the table is printed before it is written."""
    board = standings(found, options.price)
    lost = f"\n{jobs - len(found)} of {jobs} attempts are open: run this again.\n"
    text = f"{title}\n\n{table(board)}{lost if len(found) < jobs else ''}"
    print(json.dumps({"ended": text}) if options.model == STDIO else text)
    solved = [(one.contender, 100 * one.solved) for one in board]
    (options.out / "live.md").write_text(text)
    (options.out / "live.svg").write_text(bars("Solved, of 100", solved, ours(options.tools)))
    (options.out / "live.html").write_text(
        page(title, board, found, options.tests, edits=options.set == "edits")
    )


def ours(names: list[str]) -> list[str]:
    return [name for name in names if name != "deepagents"]
