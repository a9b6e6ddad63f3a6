"""What of git's configuration stays: what runs nothing and leads nowhere."""

import os
import random
import re
import subprocess

import pytest

from fsagent_tools.process.gitconfig import Unreadable, settings_of, taken_over

DAILY = """
git status; echo a >> a; git add a; git diff --cached; git commit -qm more; git log -1 -p
git stash; git checkout -qb b; git merge -q master; git rebase -q HEAD~1; git fetch evil
git pull -q . b; git push -q evil; git gc -q --auto; git checkout -q master; git branch -D b
"""
RUN_SOMETHING = """
alias.x browser.x.cmd core.alternateRefsCommand core.askPass core.attributesFile core.editor
core.excludesFile core.fsmonitor core.gitProxy core.hooksPath core.pager core.sshCommand
core.worktree commit.template credential.helper diff.external diff.orderFile diff.tool
diff.x.command diff.x.textconv difftool.x.cmd fetch.bundleURI filter.x.clean filter.x.process
filter.x.smudge gc.recentObjectsHook gpg.program gpg.x.program gpg.ssh.defaultKeyCommand
http.proxy include.path includeIf.x.path init.templateDir interactive.diffFilter man.x.cmd
merge.tool merge.x.driver mergetool.x.cmd pager.status protocol.ext.allow remote.x.receivepack
remote.x.uploadpack remote.x.vcs sendemail.x sequence.editor submodule.x.unknown trailer.x.cmd
push.pushOption remote.x.push clean.requireForce
fetch.uriProtocols pull.twohead pull.octopus extensions.partialClone
unknown.key uploadpack.packObjectsHook url.x.insteadOf web.browser
"""


def test_a_configuration_is_read_as_git_reads_it(tmp_path):
    """Or not at all: what we read differs at most in the blanks of a value."""
    pieces = [
        *("[core]", '[a "b"]', "[a.b]", "[", "]", "\n", "\n", "key", "=", " = ", "v", " ", "\t"),
        *('"', "\\", "\\n", '\\"', "#", ";", "\r\n", "\r", "\\\n", "-", "é", "\x0b", "[core] k=1"),
    ]
    chance, file = random.Random(7), tmp_path / "config"
    for _ in range(400):
        text = "[core]\n" + "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        file.write_text(text, newline="")
        command = ["git", "config", "--no-includes", "-z", "--list", "-f", file]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
        try:
            ours = [(item.key, (item.value or "").split()) for item in settings_of(text)]
        except Unreadable:
            continue
        theirs = [line.partition("\n") for line in done.stdout.split("\0")[:-1]]
        assert ours == [(key, value.split()) for key, _, value in theirs], text


def test_keys_that_run_something_go_back_and_the_rest_stays_as_it_was_written():
    before = '[core] ; ours\n\tpager = less # ours\n[alias]\n\ta = "!x \\"y\\""\n'
    after = '[core] ; ours\n\tbare = true\n[alias] b = c\n[user]\n\tname = "a;b"\n'
    text, names = taken_over(before, after)
    assert sorted(names) == ["alias.a", "alias.b", "core.pager"]
    kept = {(item.key, item.value) for item in settings_of(text)}
    assert kept == {
        *(("core.bare", "true"), ("user.name", "a;b")),
        *(("core.pager", "less"), ("alias.a", '!x "y"')),
    }
    assert taken_over(after, after) == (after, [])
    assert os.linesep not in taken_over("", "[core]\r\n\tpager = x\r\n")[1]


@pytest.mark.parametrize("key", RUN_SOMETHING.split())
def test_a_key_whose_value_is_run_or_leads_elsewhere_goes_back(key):
    name, last = headed(key)
    for value in ("word", "true", "1"):
        text, names = taken_over("", f"[{name}]\n\t{last.upper()} = {value}\n")
        assert (settings_of(text), len(names)) == ([], 1)


@pytest.mark.parametrize(
    "url", ["ext::sh -c x", "-x", "ssh://-oProxyCommand=x/y", "git+ssh://-x/y"]
)
def test_an_address_that_a_program_would_take_for_an_option_goes_back(url):
    assert taken_over("", f'[remote "o"]\nurl = {url}\n')[1] == ["remote.o.url"]


def test_a_name_that_ends_for_git_before_it_ends_for_us_is_no_name():
    with pytest.raises(Unreadable):
        taken_over("", '[remote "origin.uploadpack\0"]\n\turl = touch PWN\n')


@pytest.mark.slow
def test_no_key_of_git_that_stays_runs_or_reads_what_it_names(tmp_path):
    """Each key that this git knows, with the name of a program, of hooks and of a file."""
    asked = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True)
    keys = [
        re.sub(r"<[^>]*>|\*", "x", line)
        for line in asked.stdout.split()
        if re.fullmatch(r"[^_:]*\.[^_:]*", line)
    ]
    section = '[remote "evil"]\nurl = evil\n'
    stay = [
        key
        for key in keys
        if not taken_over(section, section + "[{}]\n{} = evil\n".format(*headed(key)))[1]
    ]
    assert len(stay) > len(keys) / 4
    subprocess.run(["git", "init", "-q", tmp_path / "user"], check=True)
    for place in ("bin/evil", "user/evil/pre-commit", "user/evil/post-checkout", "user/evil.sh"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f"#!/bin/sh\ntouch {tmp_path}/PWN\n")
        (tmp_path / place).chmod(0o755)
    for number, key in enumerate(stay):
        name, last = headed(key)
        config = f"[user]\nname = a\nemail = a@b.c\n{section}[{name}]\n{last} = evil\n"
        (tmp_path / "user/.git/config").write_text(config)
        env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
        subprocess.run(["sh", "-c", DAILY], cwd=tmp_path / "user", env=env, capture_output=True)
        assert not (tmp_path / "PWN").exists(), (number, key)


def headed(key):
    """`section "name"` and the last word of a key."""
    section, _, rest = key.partition(".")
    middle, _, last = rest.rpartition(".")
    return f'{section} "{middle}"' if middle else section, last
