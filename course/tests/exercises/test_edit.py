# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/edit.py and course/bug.py."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from course import bug, edit

SOURCE = """static int other(int a)
{
\treturn call(a);
}

int f(int a)
{
\tint ret;

\t/* First this. */
\tret = call(a,
\t\t   "a b");
\tif (ret)
\t\treturn ret;
\tclean(a); /* for the last time */
\treturn 0;
}
"""


FAKE_LAB = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
FAKE_TIMEOUT = """#!/bin/sh
shift
exec /usr/bin/timeout 1 "$@"
"""


def test_layout_does_not_matter() -> None:
    for old in ('ret = call(a, "a b");', 'ret=call( a,\n"a b" ) ;', "/* First\n * this. */ ret = call(a, \"a b\");"):
        assert "\tret = 0;\n\tif (ret)" in edit.replace(SOURCE, "f", old, "ret = 0;")


def test_comments_between_do_not_matter() -> None:
    text = edit.replace(SOURCE, "f", "int ret; ret = call(a,", "int ret = call(a,")
    assert "\tint ret = call(a,\n" in text


def test_a_line_goes_with_its_comment() -> None:
    assert "\t\treturn ret;\n\treturn 0;\n" in edit.replace(SOURCE, "f", "clean(a);", "")


def test_indentation() -> None:
    assert "\tif (a)\n\t\tclean(a);\n" in edit.replace(SOURCE, "f", "clean(a);", "if (a)\n\tclean(a);")


def test_words_are_whole() -> None:
    with pytest.raises(edit.DoesNotApply):
        edit.replace(SOURCE, "f", "lean(a);", "")


def test_in_that_function_only() -> None:
    assert "\treturn 1;\n}\n\nint f" in edit.replace(SOURCE, "other", "return call(a);", "return 1;")
    with pytest.raises(edit.DoesNotApply):
        edit.replace(SOURCE, "f", "return call(a);", "")


def test_more_than_once() -> None:
    with pytest.raises(edit.DoesNotApply):
        edit.replace(SOURCE, "f", "ret", "x")


def test_enough_of_them() -> None:
    bugs = bug.every()
    assert len(bugs) >= 25
    assert {one.level for one in bugs} == {1, 2, 3}
    assert len({one.topic for one in bugs}) >= 5
    assert len({one.number for one in bugs}) == len(bugs)


def test_comments_are_not_what_differs() -> None:
    text = edit.without_comments(SOURCE + 'char *s = "/* no comment */";\n')
    assert "First" not in text
    assert "\tclean(a);\n" in text
    assert '"/* no comment */"' in text
    assert edit.same(SOURCE, edit.without_comments(SOURCE))
    assert not edit.same(SOURCE, SOURCE.replace("first", "First").replace("a b", "a  b"))


def test_the_command_of_the_readme_ends(tmp_path: Path) -> None:
    """The server crashes, and the client waits forever: both are told, and the command ends."""
    tree, project = tmp_path / "mine", tmp_path / "project"
    bug.write(bug.chosen(525, level=2), tree)
    command = re.search(r"lab/run .*?'.*?'$", (tree / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert command
    programs = {
        project / "lab/run": FAKE_LAB,
        project / "bin/timeout": FAKE_TIMEOUT,
        tree / "server": "#!/bin/sh\nkill -SEGV $$\n",
        tree / "client": "#!/bin/sh\nexec sleep 60\n",
        project / "ping-sr-2/client": "#!/bin/sh\nexec sleep 60\n",
    }
    for path, text in programs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    environment = {"PATH": f"{project}/bin:{os.environ['PATH']}"}
    said = subprocess.run(["sh", "-c", command[0]], cwd=project, env=environment, capture_output=True, text=True, timeout=30)
    assert said.stdout.splitlines()[-2:] == ["client: exit status 124", "server: exit status 139"], said.stderr


def test_a_seed_is_a_bug() -> None:
    assert bug.chosen(7) == bug.chosen(7)
    assert len({bug.chosen(seed).name for seed in range(100)}) > 25
    assert bug.chosen(3, level=2).level == 2
    with pytest.raises(bug.Unfit):
        bug.chosen(1, topic="nothing of the sort")
