"""What stays of what a command makes of files by which other programs run something."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.process import reach
from tests.conftest import PATIENCE, eventually

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
SETTINGS = (".vscode/settings.json", ".claude/settings.json", ".envrc")


@pytest.fixture(params=["namespaces", "landlock"])
def sh(request, project, lacking):
    """A command in a repository with two branches, in a session of its own."""
    if request.param == "landlock":
        lacking("namespaces")
    workspace = Workspace(project)
    bash = toolset("workspace").bind(workspace)["bash"]

    def run(command):
        out = bash.call({"command": command, "timeout": PATIENCE})
        if not out.data["sandbox"].startswith(request.param):
            pytest.skip(f"this system has no {request.param}")
        return out

    yield run
    workspace.close()


@pytest.fixture
def project(tmp_path):
    """Its branch `main` has settings of tools, `other` has others and one more."""
    root = tmp_path / "project"
    for branch, names in (("main", SETTINGS[:2]), ("other", SETTINGS)):
        git(
            root,
            *(("init", "-q", "-b", branch) if branch == "main" else ("checkout", "-qb", branch)),
        )
        for name in names:
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(branch)
        git(root, "add", "-A")
        git(root, "commit", "-qm", branch)
    git(root, "checkout", "-q", "main")
    (root / ".git/hooks").mkdir(exist_ok=True)
    (root / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
    return root


def git(folder, *words):
    folder.mkdir(exist_ok=True)
    done = subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def runs_nothing(folder):
    """Whether the user's own git runs nothing there that a command has left."""
    for words in (("status",), ("log", "-1"), ("fetch", "--all"), ("checkout", "-q", ".")):
        subprocess.run([*GIT, *words], cwd=folder, capture_output=True)
    return not (folder / "PWN").exists()


def test_a_remote_leads_to_no_repository_that_nobody_judges(sh, project):
    out = sh(
        "git init -q --bare target/b; git init -q --bare b; ln -s target/b l; git remote add s b; "
        'git remote add t target/b; git remote add u l; git remote add v "file://$PWD/target%2Fb"'
    )
    assert out.data["exit_code"] == 0
    urls = git(project, "config", "--get-regexp", "url").split("\n")
    assert urls == ["remote.s.url b", ""]
    elsewhere = (
        "https://example.org/vendor/target.git",
        "git@example.org:vendor/b",
        "/opt/vendor/b",
    )
    for number, url in enumerate(elsewhere):
        assert not sh(f"git remote add r{number} {url}").data["put_back"]
    assert not sh("git clone -q b c; cd c; git remote get-url origin").data["put_back"]


def test_git_goes_from_commit_to_commit_with_settings_of_tools(sh, project):
    for command in (
        "git checkout -q other",
        "git checkout -q main",
        "git checkout -q other && git reset -q --hard main && git reset -q --hard ORIG_HEAD",
        f"git checkout -q main && {' '.join(GIT)} merge -q other",
        "git rm -q .envrc && git reset -q --hard",
        "git worktree add -q wt other; git clone -q . sub",
    ):
        out = sh(command)
        assert (out.data["exit_code"], out.data["put_back"]) == (0, ()), command
    assert (project / ".envrc").read_text() == "other"
    for folder in (project / "wt", project / "sub"):
        assert not git(folder, "status", "--short")
    out = sh("rm -rf sub && git worktree remove wt && git status --short")
    assert (out.data["exit_code"], out.data["put_back"], out.data["output"]) == (0, (), "")


@pytest.mark.parametrize(
    "command",
    [
        *("echo evil > .vscode/settings.json", "echo evil > .git/hooks/pre-commit"),
        *("chmod +x .git/hooks/pre-commit", "rm -r .git/hooks", "rm -rf .idea"),
        "mkdir -p sub/.idea .cursor; touch sub/.idea/a .cursor/b .mcp.json sub/.envrc",
        "git config core.hooksPath .; git config alias.st status; git config filter.x.clean x",
        "echo evil > .git/info/attributes; echo /tmp > .git/commondir",
        "ln .git/config linked; printf '[core]\\npager=x\\n' >> linked; rm linked",
        "printf '[core' >> .git/config",
        r"""printf '[remote "o.uploadpack\0"]\nurl = touch PWN\n' >> .git/config""",
        "mv .git/config moved; mkdir .git/config",
        f"echo evil > .envrc; git add .envrc; {' '.join(GIT)} commit -qnm evil; rm .envrc; "
        "git reset -q --hard; git reset -q --soft HEAD~1",
    ],
)
def test_what_a_later_program_would_run_is_as_it_was(sh, project, command):
    before = protected(project)
    out = sh(command)
    assert protected(project) == before
    assert ("[put back, " in out.text) == bool(out.data["put_back"])
    assert not sh("true").data["put_back"]


def protected(folder):
    names = (".vscode", ".idea", ".claude", ".cursor", "sub/.idea", ".git/hooks", ".git/config")
    names = (*names, ".envrc", ".mcp.json", "sub/.envrc", ".git/info/attributes", ".git/commondir")
    paths = [path for name in names for path in (folder / name, *(folder / name).rglob("*"))]
    return git(folder, "config", "--local", "--list"), {
        (str(path), path.stat().st_mode, path.name == "config" or path.read_bytes())
        for path in paths
        if path.is_file() and path.suffix != ".sample"
    }


def test_no_link_brings_settings_of_tools(sh, project):
    assert sh("rm -r .vscode; mkdir a; touch a/tasks.json; ln -s a .vscode").data["put_back"]
    assert not (project / ".vscode").is_symlink()


@pytest.mark.parametrize(
    "command",
    [
        "git init -q {0}; cd {0}; git config core.fsmonitor 'touch PWN #'; git config core.pager "
        "'touch PWN #'; echo 'touch PWN' > .git/hooks/post-checkout; chmod +x .git/hooks/*",
        "mkdir -p {0}/objects {0}/refs; cd {0}; echo ref: refs/heads/main > HEAD; "
        "printf '[core]\\nbare=false\\nworktree=.\\nfsmonitor=\"touch PWN; false\"\\n' > config",
        "mkdir {0}; cp -r .git node_modules; git -C {0} config -f ../node_modules/config "
        "core.fsmonitor 'touch PWN #'; echo gitdir: ../node_modules > {0}/.git",
        "git init -q $TMPDIR/e; git config -f $TMPDIR/e/.git/config core.fsmonitor 'touch PWN #'; "
        "mkdir {0}; echo gitdir: $TMPDIR/e/.git > {0}/.git",
        "git init -q {0}; cd {0}; git init -q e; git config -f e/.git/config include.path ../../i; "
        "printf '[core]\\nfsmonitor=touch PWN #\\n' > i; mv e/.git/config .git/config",
        "git init -q {0}; git -C {0} remote add o 'ext::sh -c touch% PWN'; "
        "git -C {0} remote add p -- --upload-pack=touch; git -C {0} config protocol.allow always",
        "git init -q a; git -C a config core.fsmonitor 'touch PWN #'; mv a {0}",
        "mkdir -p .git/modules/vendor; git init -q --separate-git-dir .git/modules/vendor/x {0}; "
        "git -C {0} config core.fsmonitor 'touch PWN #'",
    ],
)
def test_a_repository_that_a_command_made_runs_nothing_of_its_own(sh, project, command):
    sh(command.format("made"))
    assert runs_nothing(project / "made")
    sh("true")
    assert runs_nothing(project / "made")


def test_a_commondir_means_what_git_takes_it_for(sh, project):
    sh(
        "git init -q q; git init -q made; mkdir 'made/.git/gitdir: ..'; "
        "cp -r q/.git 'made/.git/gitdir: ../q'; echo 'gitdir: ../q' > made/.git/commondir"
    )
    assert not (project / "made/.git/commondir").exists()


DEEPER = "import os\nfor _ in range(1500): os.mkdir('a'); os.chdir('a')"


@pytest.mark.parametrize(
    "command",
    [
        "mkdir a; printf 'gitdir: x\\0y' > a/.git",
        f'rm .envrc; mkdir .envrc; (cd .envrc; python3 -c "{DEEPER}")',
    ],
    ids=["NUL in a link", "a deep directory"],
)
def test_nothing_ends_the_judge_before_it_has_seen_all(sh, project, command):
    (project / ".envrc").write_text("theirs")
    sh(f"{command}; mkdir -p z; echo evil > z/.envrc")
    assert not (project / "z/.envrc").exists()
    assert (project / ".envrc").read_text() == "theirs"


def test_a_directory_of_many_files_loses_none_of_the_users_and_keeps_none_of_the_commands(
    sh, project
):
    (project / ".idea").mkdir()
    for count in range(2500):
        (project / f".idea/{count}").write_text(f"{count}")
    sh("mkdir .cursor; cd .cursor; for i in $(seq 2500); do : > $i; done; rm -r ../.idea/1*")
    assert not (project / ".cursor").exists()
    assert len([*(project / ".idea").iterdir()]) == 2500


def test_git_is_asked_about_a_directory_and_not_about_each_file_in_it(sh, project, monkeypatch):
    asked, start = [], reach.start_reader
    monkeypatch.setattr(reach, "start_reader", lambda *how: asked.append(how) or start(*how))
    out = sh("git checkout -q other; cd .claude; for i in $(seq 40); do echo $i > $i; done")
    assert 0 < len(asked) < 20
    assert out.data["put_back"]
    assert sorted(os.listdir(project / ".claude")) == ["settings.json"]
    assert (project / ".claude/settings.json").read_text() == "other"


def test_a_pointer_through_a_link_that_can_be_turned_is_not_taken_over(sh, project):
    sh("git init -q good/r; ln -s good l; mkdir x; echo 'gitdir: ../l/r/.git' > x/.git")
    assert not (project / "x/.git").exists()


def test_what_another_session_is_making_is_not_taken_for_the_users(project):
    """It would put it back when it ends later."""
    first, second = (toolset("workspace").bind(Workspace(project))["bash"] for _ in range(2))
    wait = "touch {}; until [ -e {} ]; do sleep 0.05; done"
    evil = f"git config core.fsmonitor 'touch PWN #'; {wait.format('begun', 'go')}"
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.call, {"command": evil})
        assert eventually((project / "begun").exists)
        two = pool.submit(second.call, {"command": wait.format("on", "end")})
        assert eventually((project / "on").exists)
        (project / "go").touch()
        assert one.result().ok
        (project / "end").touch()
        assert two.result().ok
    assert runs_nothing(project)


def test_a_workspace_inside_a_repository_knows_its_commits(project):
    (project / "inner").mkdir()
    (project / "inner/.envrc").write_text("theirs")
    git(project, "add", "-A")
    git(project, "commit", "-qnm", "inner")
    (project / "inner/.envrc").unlink()
    workspace = Workspace(project / "inner")
    bash = toolset("workspace").bind(workspace)["bash"]
    assert not bash.call({"command": "echo -n theirs > .envrc"}).data["put_back"]
    assert bash.call({"command": "echo evil > .envrc"}).data["put_back"] == (".envrc",)
    workspace.close()


def test_what_git_writes_in_daily_work_stays(sh, project):
    sh(
        "git config user.name bob; git remote add up https://h/x.git; git branch -q t; "
        "git config branch.t.remote up; git config branch.t.merge refs/heads/t; "
        "git config core.editor evil; git branch -m t n; git remote rename up down"
    )
    said = git(project, "config", "--local", "--list")
    for line in (
        *("user.name=bob", "remote.down.url=https://h/x.git", "branch.n.remote=down"),
        "branch.n.merge=refs/heads/t",
    ):
        assert line in said.splitlines()
    assert "evil" not in said


def test_a_submodule_comes_and_goes(sh, project):
    sh(f"git init -q lib; {' '.join(GIT)} -C lib commit -q --allow-empty -m a")
    for command in (
        "git -c protocol.file.allow=always submodule add -q $PWD/lib deep/sub",
        "git -C deep/sub status && git submodule update -q --init",
    ):
        out = sh(command)
        assert (out.data["exit_code"], out.data["put_back"]) == (0, ()), out.text
    told = git(project / "deep/sub", "config", "core.worktree")
    assert told == "../../../../deep/sub\n"
    for place in ("../../../..", "/tmp", "../../../../lib"):
        assert sh(f"git -C .git/modules/deep/sub config core.worktree {place}").data["put_back"]
    assert git(project / "deep/sub", "config", "core.worktree") == told
    out = sh("git submodule deinit -f deep/sub && git rm -qf deep/sub")
    assert (out.data["exit_code"], out.data["put_back"]) == (0, ()), out.text


def test_a_choice_that_runs_nothing_is_not_told_of(sh, project):
    for choice in (
        *("pull.rebase true", "pull.ff only", "push.autoSetupRemote true", "rerere.enabled true"),
        *("core.autocrlf input", "core.eol lf", "color.ui auto", "fetch.prune true"),
        *("merge.ff false", "rebase.autosquash true", "rebase.autostash true"),
    ):
        assert not sh(f"git config {choice}").data["put_back"], choice


def test_what_lies_below_dependencies_and_what_is_moved_stays(sh, project):
    sh("mkdir -p node_modules/p/.vscode target/.idea; touch node_modules/p/.vscode/settings.json")
    assert (project / "node_modules/p/.vscode/settings.json").exists()
    (project / "theirs").mkdir()
    git(project / "theirs", "init", "-q")
    git(project / "theirs", "config", "core.pager", "less")
    assert not sh("mv theirs ours; rm -rf node_modules").data["put_back"]
    assert "less" in git(project / "ours", "config", "core.pager")


KILLED = """
import sys
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import launcher
launcher.NAMESPACES = sys.argv[2] == "namespaces"
command = "git config core.pager x; echo x > .git/hooks/new; echo x > .envrc; touch on; sleep 99"
toolset("workspace").bind(Workspace(sys.argv[1]))["bash"].call({"command": command})
"""


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_host_that_is_killed_meanwhile_leaves_nothing_either(project, level):
    before = protected(project)
    with subprocess.Popen([sys.executable, "-c", KILLED, project, level]) as host:
        eventually(lambda: (project / "on").exists())
        host.send_signal(signal.SIGKILL)
    eventually(lambda: protected(project) == before)
