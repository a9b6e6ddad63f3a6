"""The live benchmark on a cluster of several nodes, one of which is lost in the middle."""

import threading
from collections import Counter

import pytest

ray = pytest.importorskip("ray", reason="needs ray")

from benchmark.agent.attempt import Job  # noqa: E402
from benchmark.agent.engines import on_ray  # noqa: E402
from benchmark.agent.tasks import tasks  # noqa: E402
from benchmark.results import Results  # noqa: E402
from tests.benchmark.test_agent import FILES  # noqa: E402
from tests.cluster import NODE, clustered  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture
def cluster():
    with clustered(1) as made:
        yield made
        ray.shutdown()


def test_no_task_is_lost_or_counted_twice_when_a_node_dies(cluster, tmp_path):
    others = [cluster.add_node(**NODE) for _ in range(2)]
    jobs = [
        Job(task, contender, "scripted:0.5", run=run)
        for task in tasks(FILES, 6)
        for contender in ("tag", "words")
        for run in range(2)
    ]
    results = Results(tmp_path / "agent.jsonl", "task", "contender", "run")
    seen, killer = Counter(), None
    for record in on_ray(jobs, FILES, 6, cluster.address):
        seen[record["task"], record["contender"], record["run"]] += 1
        results.add(record)
        if len(seen) == 3:
            killer = threading.Thread(target=cluster.remove_node, args=(others[0],))
            killer.start()
    results.close()
    killer.join()
    assert seen == Counter({(job.task.id, job.contender, job.run): 1 for job in jobs})
    assert len((tmp_path / "agent.jsonl").read_text().splitlines()) == len(jobs)
    assert {record["solved"] for record in results} == {True, False}
