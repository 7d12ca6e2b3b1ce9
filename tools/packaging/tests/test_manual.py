# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The manual says what the header says: names, prototypes and parameters; and its examples compile.

Contract: the pages are those of tools/packaging/manual, in a folder of their own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
HEADER = (TOP / "common/our_control.h").read_text()
PROTOTYPE = re.compile(r"^(?:static inline )?([a-z_0-9 ]+?[ *]+)(our_\w+)\(([^()]*)\)", re.MULTILINE)
OBJECTS = {"control", "client", "listener", "agent", "device", "stop", "config"}
INCLUDES = "".join(f"#include <{name}.h>\n" for name in ("errno", "poll", "signal", "stdio", "string"))


def code() -> str:
    """The header without comments; they mention other functions."""
    return re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)


def one_line(text: str) -> str:
    """However it is wrapped."""
    return " ".join(text.split())


def synopsis(page: str) -> str:
    """The declarations of a page, as they were before roff."""
    found = re.search(r"\.SH SYNOPSIS\n\.nf\n\.B #include <our_control.h>\n\.PP\n(.*?)\n\.fi\n", page, re.DOTALL)
    assert found, page
    return found[1].replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


class Manual(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    pages: dict[str, str]  # the pages of section 3, by name

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([TOP / "tools/packaging/manual", "--version", "1.2", cls.folder.name], check=True, timeout=60)
        cls.pages = {path.stem: path.read_text() for path in Path(cls.folder.name).glob("*.3")}

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def page(self, name: str) -> str:
        """The page that a name leads to."""
        text = self.pages[name]
        return self.pages[text.split()[1].removeprefix("man3/").removesuffix(".3")] if text.startswith(".so ") else text

    def test_the_pages_are_those_of_the_functions(self) -> None:
        self.assertEqual(set(self.pages), {name for _, name, _ in PROTOTYPE.findall(code())})

    def test_prototypes_are_those_of_the_header(self) -> None:
        for name in self.pages:
            with self.subTest(name):
                declared = synopsis(self.page(name))
                self.assertIn(name, [found[1] for found in PROTOTYPE.findall(declared)])
                self.assertIn(one_line(declared), one_line(HEADER))
                self.assertNotIn("Our_", self.page(name))  # a name has no capital letter, at the beginning of a sentence either
                self.assertRegex(self.page(name), rf"\.SH NAME\n[^\n]*\b{name}\b[^\n]* \\- ")

    def test_a_page_says_what_is_returned_and_what_each_parameter_is(self) -> None:
        for name in self.pages:
            text = self.page(name)
            said = text.replace(f"\n{synopsis(text)}\n", "").replace("\\-", "-").replace("_", " ")
            for result, function, parameters in PROTOTYPE.findall(synopsis(text)):
                with self.subTest(function):
                    if result.strip() != "void":
                        self.assertIn(".SH RETURN VALUE", text)
                    if result.strip() == "int" and not function.endswith("_fd"):
                        self.assertIn(".SH ERRORS", text)
                    for parameter in re.findall(r"(\w+)(?:,|$)", one_line(parameters)):
                        if parameter not in OBJECTS:
                            self.assertRegex(said, rf"\b{parameter.replace('_', ' ')}\b")

    def test_the_overview_names_every_page_and_type(self) -> None:
        overview = (Path(self.folder.name) / "our_control.7").read_text()
        for name in self.pages:
            self.assertRegex(overview, rf"\b{name}\(3\)")
        for kind, name in re.findall(r"^(struct|enum) (our_\w+) {", code(), re.MULTILINE):
            self.assertRegex(overview, rf"\n{kind} {name} {{\n")

    def test_examples_compile(self) -> None:
        text = (TOP / "tools/packaging/our_control.7.in").read_text()
        of_header = [re.sub(r"^ \*\t?", "", found, flags=re.M) for found in re.findall(r"(?:^ \*\t.*\n(?: \*\n(?= \*\t))?)+", HEADER, re.M)]
        of_overview = re.findall(r"^\.EX\n(.*?)^\.EE", text, re.M | re.S)
        of_header = [block for block in of_header if ";" in block]  # the others are tables
        self.assertTrue(of_header and of_overview)
        for example in of_header + of_overview:
            with self.subTest(example):
                done = subprocess.run(
                    ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/common", "-fsyntax-only", "-xc", "-"],
                    input=f'{INCLUDES}#include "our_control.h"\n{example}', capture_output=True, text=True, timeout=60, check=False
                )  # fmt: skip
                self.assertEqual(done.returncode, 0, done.stderr)
                # soft-iWARP may still send what is not signaled when a later request has completed
                self.assertEqual(example.count("struct ibv_send_wr "), example.count("IBV_SEND_SIGNALED"))

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_has_nothing_to_complain_of(self) -> None:
        for path in Path(self.folder.name).iterdir():
            if not path.read_text().startswith(".so "):
                command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(path)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
                self.assertEqual(done.stderr, "")
