"""python -m benchmark live --repo PATH --model NAME: agents repair small bugs in a repository.

A model is what the framework calls it (`openai:gpt-5-mini`, `anthropic:claude-sonnet-4-5`); its key
comes from the environment. `scripted` costs nothing and knows the answers. `stdio` is whoever is at
standard input: a line of JSON each turn, back and forth. Goes on where it ended.
"""

import argparse
from pathlib import Path

from benchmark.agent.attempt import Job
from benchmark.agent.contenders import CONTENDERS
from benchmark.agent.engines import local, on_ray
from benchmark.agent.leaderboard import page, table
from benchmark.agent.models import STDIO, WrongKey, require
from benchmark.agent.standings import standings
from benchmark.agent.tasks import Task, repository, tasks
from benchmark.picture import bars
from benchmark.progress import Progress
from benchmark.results import Results
from fsagent_tools.toolsets.families import AUTO

ROOT = Path(__file__).parents[2]
KEYS = ("task", "contender", "model", "framework", "run")


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmark live", description=__doc__)
    add = parser.add_argument
    add("--repo", type=Path, default=ROOT, help="a git repository (this one)")
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
    add("--quick", action="store_true", help="four tasks")
    add("--out", type=Path, default=Path("bench-results"))
    return parser.parse_args(words)


def main(words: list[str]) -> None:
    options = parsed(words)
    require(options.model, options.framework)
    files = repository(options.repo)
    chosen = tasks(files, 4 if options.quick else options.tasks, options.tests)
    if not chosen:
        raise SystemExit(f"No bug could be made in {options.repo}: is there Python in it?")
    results = Results(options.out / "live.jsonl", *KEYS)
    share = options.rate and options.rate / options.parallel
    kept = str(options.out / "played")
    jobs = [
        Job(task, contender, options.model, options.framework, run, options.turns, share, kept)
        for run in range(options.runs)
        for task in chosen
        for contender in options.tools
    ]
    todo = [job for job in jobs if job.key not in results]
    progress = Progress("attempts", len(todo))
    if options.engine == "ray":
        records = on_ray(todo, files, options.parallel, options.address)
    else:
        records = local(todo, files, 1 if options.model == STDIO else options.parallel)
    try:
        for record in records:
            results.add(record)
            progress.step()
    except WrongKey as error:
        again = "Set the right one and run this again: it goes on where it ended."
        raise SystemExit(f"{options.model} refuses the key: {error}\n{again}") from None
    finally:
        results.close()
    told(options, chosen, jobs, results)


def told(
    options: argparse.Namespace, chosen: list[Task], jobs: list[Job], results: Results
) -> None:
    """Table, picture and page of the attempts that this call was about."""
    wanted = {job.key for job in jobs}
    found = [record for record in results if results.key(record) in wanted]
    board = standings(found, options.price)
    title = f"{options.model}, {options.framework}: {len(chosen)} tasks in {options.repo.name}"
    lost = f"\n{len(jobs) - len(found)} of {len(jobs)} attempts are open: run this again.\n"
    text = f"{title}\n\n{table(board)}{lost if len(found) < len(jobs) else ''}"
    (options.out / "live.html").write_text(page(title, board, found, options.tests))
    (options.out / "live.md").write_text(text)
    solved = [(one.contender, 100 * one.solved) for one in board]
    (options.out / "live.svg").write_text(bars("Solved, of 100", solved, ours(options.tools)))
    print(text)


def ours(names: list[str]) -> list[str]:
    return [name for name in names if name != "deepagents"]
