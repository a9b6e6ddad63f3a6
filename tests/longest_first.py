"""In which order, and on which process of pytest-xdist, `dev.py test` runs the files."""

from xdist.scheduler import LoadFileScheduling

ON_A_CLUSTER = ("test_ray.py",)  # starting one is expensive
LONGEST = {
    "test_examples.py", "test_findings.py", "test_grep.py", "test_misbehaving_servers.py",
    "test_readme.py", "test_real_servers.py", "test_run.py", "test_runaways_in_time.py",
    "test_serve.py", *ON_A_CLUSTER, "test_contract.py",
}  # fmt: skip


def pytest_collection_modifyitems(items):
    """The longest files come first, so that none of them runs alone at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


class ByCluster(LoadFileScheduling):
    """Whole files to each process, and those that use a cluster to one, which starts it once."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return "on a cluster" if file.endswith(ON_A_CLUSTER) else file


def pytest_xdist_make_scheduler(config, log):
    return ByCluster(config, log) if config.getvalue("dist") == "loadfile" else None
