"""What a command makes of files by which other programs run something."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fsagent_tools.policy.protected import SETTINGS
from tests.conftest import eventually

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.full]
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]


def git(folder, *words):
    folder.mkdir(exist_ok=True)
    done = subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def root(tmp_path):
    return tmp_path / "ws"


@pytest.fixture
def repository(root):
    """With a hook and settings of an editor."""
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    hook = root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    (root / ".vscode").mkdir()
    (root / ".vscode/settings.json").write_text("{}")
    (root / ".envrc").write_text("export A=1\n")
    return root


def state(root):
    """Everything that makes other programs run something, with its mode."""
    places = [root / ".git/config", root / ".git/hooks", *(root / name for name in SETTINGS)]
    places += [
        root / ".git/config.worktree",
        root / ".git/info/attributes",
        root / ".git/commondir",
    ]
    found = {}
    for place in places:
        for path in [place, *place.rglob("*")] if place.is_dir() else [place]:
            if path.is_file() or path.is_symlink():
                mode = path.lstat().st_mode
                found[str(path)] = (
                    mode,
                    os.readlink(path) if path.is_symlink() else path.read_bytes(),
                )
    return found


ATTACKS = [
    "echo evil >> .git/hooks/pre-commit",
    "echo evil > .git/hooks/post-checkout",
    "rm .git/hooks/pre-commit",
    "chmod -x .git/hooks/pre-commit",
    "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/post-checkout",
    "mv .git .g; cp -r .g .git; echo evil > .git/hooks/post-checkout; rm -rf .g",
    "echo evil > .git/config.worktree",
    "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes",
    "echo ../evil > .git/commondir",
    "git config core.fsmonitor evil",
    "git config core.hooksPath evil",
    "git config alias.st '!evil'",
    "git config include.path ../evil",
    "git config remote.o.url 'ext::evil'",
    "git config remote.o.url -- --upload-pack=evil",
    "mkdir b; git init -q --bare b; git config remote.o.url b",
    "git config filter.x.clean evil",
    "git config user.nickname x",
    "git config diff.algorithm ./evil",
    "printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config",
    "printf 'broken[' > .git/config",
    "rm .git/config; mkfifo .git/config",
    "rm .git/config; ln -s /etc/passwd .git/config",
    "head -c 200000 /dev/zero | tr '\\0' '#' >> .git/config",
    "echo evil > .vscode/settings.json",
    "echo evil > .vscode/tasks.json",
    "rm -r .vscode; mkdir .vscode; echo evil > .vscode/settings.json",
    "mv .vscode .v; mkdir .vscode; echo evil > .vscode/tasks.json; rm -r .v",
    "ln -sfn /tmp .vscode",
    "echo evil >> .envrc",
    "mv .envrc e; echo evil > .envrc; rm e",
    "ln -sf /etc/passwd .envrc",
    "mkdir -p .claude; echo evil > .claude/settings.json; chmod 0 .claude",
    "mkfifo .mcp.json",
    "echo evil > a.code-workspace",
    "mkdir -p .hg; echo evil > .hg/hgrc",
    "mkdir d; ln -s d .idea; echo evil > .idea/workspace.xml",
    "(sleep 0.2; echo evil > .envrc; echo evil > .mcp.json) & true",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_stays_that_makes_another_program_run_something(sh, repository, attack):
    before = state(repository)
    sh(attack)
    assert state(repository) == before


@pytest.mark.parametrize("name", [name for name in SETTINGS if "*" not in name])
def test_a_new_entry_under_a_protected_name_is_moved_away_and_named(sh, root, name):
    out = sh(f'mkdir -p "$(dirname {name})" && echo evil > {name}')
    assert not (root / name).exists()
    assert out.data["moved"] == (name,)
    assert (Path(out.data["kept"]) / name).read_text() == "evil\n"
    assert f"[moved away, as other programs would run it: {name}]" in out.text
    assert "protected=()" in out.text


def test_a_key_that_runs_code_puts_the_file_back_and_is_named(sh, repository):
    out = sh("git config core.fsmonitor evil; git config user.name ann")
    assert out.data["put_back"] == (".git/config (core.fsmonitor)",)
    assert "evil" in (Path(out.data["kept"]) / ".git/config").read_text()
    assert "git -c" in out.text


DAILY = """
git config user.name ann; git config user.email a@b.c
git init -q sub; cd sub; git commit -qm x --allow-empty; cd ..
git clone -q sub cloned
git checkout -qb topic; echo a > a; git add a; git commit -qm topic; git checkout -q main
git merge -q topic; git branch -m topic old
git remote add origin https://example.com/x.git; git remote rename origin up
git worktree add -q ../ws/tree old; git worktree remove tree
echo b > a; git stash -q; git stash pop -q; git checkout -q a
git rebase -q main; git gc -q; git tag v1; git log --oneline; git blame a
git branch --set-upstream-to=main old; git config pull.rebase true
git rm -rq --cached a; rm -rf sub cloned
"""


def test_git_works_in_daily_life_and_says_nothing_of_the_sandbox(sh, repository):
    for command in DAILY.strip().splitlines():
        out = sh(command)
        assert (out.data["exit_code"], out.data["put_back"], out.data["moved"]) == (0, (), ()), (
            command,
            out.text,
        )


def test_a_refusal_names_the_protected_file_and_the_way(bwrap_sh, repository):
    out = bwrap_sh("echo evil > .git/hooks/pre-commit")
    assert "protected from commands; use `git -c`, or ask the user (protected=())" in out.text


def test_the_first_link_on_the_way_is_moved_and_never_what_it_leads_to(sh, root, tmp_path):
    other = tmp_path / "other"
    git(other, "init", "-q")
    (other / ".git/hooks").mkdir(exist_ok=True)
    (other / ".git/hooks/pre-commit").write_text("the user's\n")
    out = sh(f"ln -s {other}/.git .git")
    assert out.data["moved"] == (".git",)
    assert (other / ".git/hooks/pre-commit").read_text() == "the user's\n"
    assert not (root / ".git").is_symlink()


def test_a_pointer_to_another_directory_of_git_is_moved_away(sh, root):
    out = sh(
        "git init -q --bare evil; git -C evil config core.fsmonitor x; echo gitdir: evil > .git"
    )
    assert ".git" in out.data["moved"]


def test_a_link_is_not_put_back_through_a_directory_that_became_one(sh, root, tmp_path):
    """The second command finds the link of the first one, and hides the directory it was in."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config").write_text("the user's\n")
    sh("git init -q e; echo evil > gc; rm e/.git/config; ln -s ../../gc e/.git/config")
    sh(f"rm -rf e/.git; ln -s {home} e/.git")
    assert (home / "config").read_text() == "the user's\n"
    assert not (home / "config").is_symlink()


def test_a_work_tree_that_a_command_made_up_opens_nothing_for_writing(bwrap_sh, root):
    """Its `.git` says where git's directory is, which a command would have open to it."""
    outside = root.parent
    bwrap_sh(
        f"mkdir -p worktrees/x; echo {root}/.git > worktrees/x/gitdir;"
        f" echo {outside} > worktrees/x/commondir; echo gitdir: {root}/worktrees/x > .git"
    )
    bwrap_sh(f"echo evil > {outside}/evil")
    assert not (outside / "evil").exists()


def test_modes_that_a_user_gave_to_directories_stay(sh, root):
    (root / "read").mkdir(mode=0o555)
    for mode in (0o555, 0o755):
        root.chmod(mode)
        sh("true; echo evil > .envrc; mkdir -p n/.vscode")
        assert (root.stat().st_mode & 0o777, (root / "read").stat().st_mode & 0o777) == (
            mode,
            0o555,
        )


def test_a_root_does_not_become_a_repository_without_a_work_tree(sh, root):
    out = sh("git init -q --bare .; git config -f config core.fsmonitor evil")
    assert out.data["moved"] == ("HEAD",)
    assert not (root / "HEAD").exists()


def test_what_names_the_directory_of_git_of_a_work_tree_stays(sh, root):
    main = root.parent / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    root.rmdir()
    git(main, "worktree", "add", "-q", root)
    before = (root / ".git").read_text()
    sh("git init -q --bare evil; echo gitdir: evil > .git; mv .git g; echo gitdir: evil > .git")
    assert (root / ".git").read_text() == before


@pytest.mark.parametrize("closed", ["chmod 311 .git/hooks", "chmod 300 ."])
def test_a_directory_that_a_command_closed_is_judged_all_the_same(sh, root, closed):
    git(root, "init", "-q", "--template=")
    out = sh(f"mkdir .git/hooks; echo evil > .git/hooks/pre-commit; {closed}")
    assert not (root / ".git/hooks/pre-commit").exists()
    assert out.data["moved"] == (".git/hooks",)


def test_a_submodule_whose_name_is_a_path_is_covered(sh, root):
    git(root, "init", "-q")
    git(root, "init", "-q", "--bare", ".git/modules/libs/foo")
    out = sh("git config -f .git/modules/libs/foo/config core.fsmonitor evil")
    assert out.data["put_back"] == (".git/modules/libs/foo/config (core.fsmonitor)",)


@pytest.mark.parametrize("put", ["ln -s ../evil .git/config", "mkfifo .git/config"])
def test_a_new_repository_whose_configuration_is_no_file_loses_it(sh, root, put):
    out = sh(f"git init -q; printf '[core]\\n\\tfsmonitor = evil\\n' > evil; rm .git/config; {put}")
    assert out.data["put_back"] == (".git/config (not a file of git)",)
    assert not os.path.lexists(root / ".git/config")


@pytest.mark.parametrize("depth", ["a", "a/b", "a/b/c"])
def test_repositories_three_levels_deep_are_covered(sh, root, depth):
    folder = root / depth
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    hook = folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("kept\n")
    before = (folder / ".git/config").read_text()
    out = sh(
        f"echo evil > {depth}/.git/hooks/pre-commit; git -C {depth} config core.fsmonitor evil"
    )
    assert hook.read_text() == "kept\n"
    assert (folder / ".git/config").read_text() == before
    assert f"{depth}/.git/config (core.fsmonitor)" in out.data["put_back"]


def test_what_the_users_configuration_names_in_the_root_is_protected(sh, repository):
    (repository / ".hooks").mkdir()
    (repository / ".hooks/pre-commit").write_text("kept\n")
    (repository / "shared.gitconfig").write_text("[alias]\n")
    git(repository, "config", "core.hooksPath", ".hooks")
    git(repository, "config", "include.path", "../shared.gitconfig")
    sh("echo evil > .hooks/pre-commit; echo evil > .hooks/post-merge; echo evil > shared.gitconfig")
    assert os.listdir(repository / ".hooks") == ["pre-commit"]
    assert (repository / ".hooks/pre-commit").read_text() == "kept\n"
    assert (repository / "shared.gitconfig").read_text() == "[alias]\n"


def test_a_linked_work_tree_commits_and_its_repository_is_protected(bwrap_sh, root, tmp_path):
    main = tmp_path / "main"
    git(main, "init", "-q")
    git(main, "commit", "-qm", "one", "--allow-empty")
    root.rmdir()
    git(main, "worktree", "add", "-q", str(root))
    before = (main / ".git/config").read_text()
    assert bwrap_sh(f"{' '.join(GIT)} commit -qm two --allow-empty").data["exit_code"] == 0
    bwrap_sh(f"git config core.fsmonitor evil; echo evil > {main}/.git/hooks/pre-commit")
    assert (main / ".git/config").read_text() == before
    assert not (main / ".git/hooks/pre-commit").exists()


def test_a_pointer_that_its_directory_does_not_return_opens_nothing(bwrap_sh, root, tmp_path):
    main = tmp_path / "victim"
    git(main, "init", "-q")
    (root / ".git").write_text(f"gitdir: {main}/.git\n")
    assert bwrap_sh(f"echo evil > {main}/.git/hooks/pre-commit").data["exit_code"]


def test_what_the_user_changes_while_a_job_runs_stays(bwrap_sh, repository):
    bwrap_sh("sleep 600", hidden={"background": True})
    git(repository, "config", "alias.st", "status")
    (repository / ".git/hooks/post-merge").write_text("the user's\n")
    (repository / ".vscode/settings.json").write_text("the user's")
    assert bwrap_sh("echo hi").text == "hi"
    (workspace,) = bwrap_sh.workspaces.values()
    job = workspace.services.jobs.get("1")
    job.kill()
    done = job.read()
    assert (done.changed, done.put_back, done.moved) == ((".git/config",), (), ())
    assert "st = status" in (repository / ".git/config").read_text()
    assert (repository / ".git/hooks/post-merge").read_text() == "the user's\n"
    assert (repository / ".vscode/settings.json").read_text() == "the user's"


def test_a_job_plants_nothing_either(sh, repository):
    before = state(repository)
    sh("for i in $(seq 50); do git config core.fsmonitor evil; echo evil > .mcp.json; sleep 0.02; "
       "done", hidden={"background": True})  # fmt: skip
    (workspace,) = sh.workspaces.values()
    job = workspace.services.jobs.get("1")
    assert sh("true").ok
    assert eventually(lambda: not job.running)
    assert state(repository) == before


def test_what_one_command_changes_is_not_taken_for_the_users_by_another(sh, repository):
    before, waits = state(repository), "until [ -e {} ]; do sleep 0.02; done"
    sh("true")
    (workspace,) = sh.workspaces.values()
    first = f"git config alias.x evil; echo evil > .mcp.json; touch a; {waits.format('b')}"
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(workspace.run, first)
        second = sh(f"{waits.format('a')}; git config user.name ann; touch b")
        done = running.result()
    assert second.ok
    assert state(repository) == before
    assert any("alias.x" in key for key in (*done.put_back, *second.data["put_back"]))


def test_a_host_may_lift_it(sh, repository):
    out = sh("git config core.fsmonitor evil; echo evil > .envrc", protected=())
    assert out.data["put_back"] == ()
    assert (repository / ".envrc").read_text() == "evil\n"
    assert "evil" in (repository / ".git/config").read_text()


def test_the_users_own_files_are_not_lost_with_those_that_a_command_adds(sh, repository):
    (repository / "notes").write_text("mine")
    out = sh("echo evil > .mcp.json; echo x > other; rm notes")
    assert out.data["moved"] == (".mcp.json",)
    assert (repository / "other").exists()
    assert not (repository / "notes").exists()


EVIL = "printf '#!/bin/sh\\n: > {mark}\\n' > evil.sh; chmod +x evil.sh; "
SUBMODULE = "git -c protocol.file.allow=always submodule --quiet add {other} libs/foo"
LED_ASTRAY = {  # what stands there before, what a command does, and where the user works then
    "a submodule that it made": (
        "",
        "git init -q lib; git -C lib commit -q --allow-empty -m x; git add lib; "
        "git -C lib config core.fsmonitor $PWD/evil.sh",
        "git status",
    ),
    "hooks of such a one": (
        "",
        "git init -q lib; git -C lib commit -q --allow-empty -m x; git add lib; "
        "mkdir -p lib/.git/hooks; cp evil.sh lib/.git/hooks/post-index-change",
        "cd lib; git commit -q --allow-empty -m x",
    ),
    "a link in such a one": (
        "",
        "git init -q lib; git -C lib commit -q --allow-empty -m x; git add lib; mv lib/.git e; "
        "git -C e config core.fsmonitor $PWD/evil.sh; ln -s ../e lib/.git",
        "git status",
    ),
    "one of very many": (
        "for i in $(seq 60); do git init -q junk$i; done",
        "git init -q lib; git -C lib commit -q --allow-empty -m x; git add lib; "
        "git -C lib config core.fsmonitor $PWD/evil.sh",
        "git status",
    ),
    "the file of a submodule": (
        SUBMODULE,
        "cp -r .git/modules/libs/foo e; git config -f e/config core.fsmonitor $PWD/evil.sh; "
        "git config -f e/config core.worktree $PWD/libs/foo; echo gitdir: $PWD/e > libs/foo/.git",
        "git status",
    ),
    "another work tree": (
        "git worktree add -q {other}/tree -b tree",
        "cp -r .git e; git config -f e/config core.fsmonitor $PWD/evil.sh; "
        "echo $PWD/e > .git/worktrees/tree/commondir",
        "cd {other}/tree; git status",
    ),
    "settings of another work tree": (
        "git config extensions.worktreeConfig true; git worktree add -q {other}/tree -b tree",
        "git config -f .git/worktrees/tree/config.worktree core.fsmonitor $PWD/evil.sh",
        "cd {other}/tree; git status",
    ),
    "a repository that was renamed and came back": (
        "mkdir sub; cd sub; git init -q; echo true > .git/hooks/pre-commit; chmod +x .git/hooks/*",
        "mv sub s; mkdir sub; cp -r s/. sub/; cp evil.sh sub/.git/hooks/pre-commit",
        "cd sub; git commit -q --allow-empty -m x",
    ),
    "a link to the directory of git": (
        "mv .git real; ln -s real .git; rm -rf real/hooks",
        "mkdir -p .git/hooks; cp evil.sh .git/hooks/pre-commit; "
        "git config core.fsmonitor $PWD/evil.sh",
        "git status; git commit -q --allow-empty -m x",
    ),
    "the address of a repository in the root": (
        "git remote add origin https://example.org/x",
        "git init -q --bare bare.git; cp evil.sh bare.git/hooks/pre-receive; "
        "git config remote.origin.url file://$PWD/bare",
        "git push -q origin main",
    ),
    "hooks among very many files": (
        "",
        "cd .git/hooks; for i in $(seq 1500); do : > $i; done; cp ../../evil.sh pre-commit",
        "git commit -q --allow-empty -m x",
    ),
}


@pytest.mark.parametrize("background", [False, True], ids=["command", "job"])
@pytest.mark.parametrize("case", LED_ASTRAY)
def test_git_is_not_led_to_what_a_command_made(sh, root, tmp_path, case, background):
    mark, other = tmp_path / "mark", tmp_path / "other"
    before, command, after = (part.format(mark=mark, other=other) for part in LED_ASTRAY[case])
    git(other, "init", "-q", "-b", "main")
    git(root, "init", "-q", "-b", "main")
    for folder in (other, root):
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    who = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; "
    subprocess.run(["sh", "-c", who + before], cwd=root, check=True, capture_output=True)
    out = sh(who + EVIL.format(mark=mark) + command, hidden={"background": background})
    (workspace,) = sh.workspaces.values()
    if background:
        job = workspace.services.jobs.get("1")
        assert eventually(lambda: not job.running)
    subprocess.run(["sh", "-c", who + after], cwd=root, check=False, capture_output=True)
    assert not mark.exists(), out.text
