# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/edit.py and course/bug.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course import bug, edit  # noqa: E402

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


class Replace(unittest.TestCase):
    """What is found, and what is left."""

    def test_layout_does_not_matter(self) -> None:
        for old in ('ret = call(a, "a b");', 'ret=call( a,\n"a b" ) ;', "/* First\n * this. */ ret = call(a, \"a b\");"):
            self.assertIn("\tret = 0;\n\tif (ret)", edit.replace(SOURCE, "f", old, "ret = 0;"))

    def test_comments_between_do_not_matter(self) -> None:
        text = edit.replace(SOURCE, "f", "int ret; ret = call(a,", "int ret = call(a,")
        self.assertIn("\tint ret = call(a,\n", text)

    def test_a_line_goes_with_its_comment(self) -> None:
        self.assertIn("\t\treturn ret;\n\treturn 0;\n", edit.replace(SOURCE, "f", "clean(a);", ""))

    def test_indentation(self) -> None:
        self.assertIn("\tif (a)\n\t\tclean(a);\n", edit.replace(SOURCE, "f", "clean(a);", "if (a)\n\tclean(a);"))

    def test_words_are_whole(self) -> None:
        with self.assertRaises(edit.DoesNotApply):
            edit.replace(SOURCE, "f", "lean(a);", "")

    def test_in_that_function_only(self) -> None:
        self.assertIn("\treturn 1;\n}\n\nint f", edit.replace(SOURCE, "other", "return call(a);", "return 1;"))
        with self.assertRaises(edit.DoesNotApply):
            edit.replace(SOURCE, "f", "return call(a);", "")

    def test_more_than_once(self) -> None:
        with self.assertRaises(edit.DoesNotApply):
            edit.replace(SOURCE, "f", "ret", "x")


class Table(unittest.TestCase):
    """The bugs themselves."""

    def test_enough_of_them(self) -> None:
        bugs = bug.every()
        self.assertGreaterEqual(len(bugs), 25)
        self.assertEqual({one.level for one in bugs}, {1, 2, 3})
        self.assertGreaterEqual(len({one.topic for one in bugs}), 5)
        self.assertEqual(len({one.number for one in bugs}), len(bugs))

    def test_comments_are_not_what_differs(self) -> None:
        text = edit.without_comments(SOURCE + 'char *s = "/* no comment */";\n')
        self.assertNotIn("First", text)
        self.assertIn("\tclean(a);\n", text)
        self.assertIn('"/* no comment */"', text)
        self.assertTrue(edit.same(SOURCE, edit.without_comments(SOURCE)))
        self.assertFalse(edit.same(SOURCE, SOURCE.replace("first", "First").replace("a b", "a  b")))

    def test_the_command_of_the_readme_ends(self) -> None:
        """The server crashes, and the client waits forever: both are told, and the command ends."""
        with tempfile.TemporaryDirectory() as name:
            tree, project = Path(name, "mine"), Path(name, "project")
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
            self.assertEqual(said.stdout.splitlines()[-2:], ["client: exit status 124", "server: exit status 139"], said.stderr)

    def test_a_seed_is_a_bug(self) -> None:
        self.assertEqual(bug.chosen(7), bug.chosen(7))
        self.assertGreater(len({bug.chosen(seed).name for seed in range(100)}), 25)
        self.assertEqual(bug.chosen(3, level=2).level, 2)
        with self.assertRaises(bug.Unfit):
            bug.chosen(1, topic="nothing of the sort")


if __name__ == "__main__":
    unittest.main()
