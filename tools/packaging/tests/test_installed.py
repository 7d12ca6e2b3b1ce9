# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The two files compile by themselves and export what their header says; what is installed can be used, and removed.

Contract: nothing outside of a folder of its own is written.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
WARNINGS = "-pedantic -Wall -Wextra -Wmissing-prototypes -Werror".split()
USING = Path(__file__).parent / "using"  # tests/bare builds these with meson and CMake, too
INLINE = {"our_is_recv", "our_buffer_index"}
TABLES = {"our_cm_nonblocking", "our_busy_polling", "our_nonblocking_channel"}


def run(*words: object, env: dict[str, str] | None = None, cwd: Path = TOP) -> str:
    """A command that has to succeed; what it prints."""
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def make(*words: object) -> str:
    """The product alone, and not as a part of the make that runs the tests."""
    return run("make", "-s", "-f", "tools/packaging/Makefile", *words, env={"MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": ""})


def functions() -> set[str]:
    """Those that the header declares; comments mention others."""
    header = re.sub(r"/\*.*?\*/", "", (TOP / "common/our_control.h").read_text(), flags=re.DOTALL)
    return set(re.findall(r"\b(our_\w+)\(", header)) - INLINE


class TwoFiles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        make("amalgamation")
        for name in ("our_control.c", "our_control.h"):
            shutil.copy(TOP / "build/amalgamation" / name, self.folder)

    def test_compilers_take_them(self) -> None:
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler):
                run(compiler, "-std=c11", *WARNINGS, "-c", "our_control.c", "-o", f"{compiler}.o", cwd=self.folder)
        run("g++", "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "our_control.h",
            cwd=self.folder)  # fmt: skip

    def test_a_shared_object_exports_what_the_header_declares(self) -> None:
        run("gcc", "-std=c11", "-shared", "-fPIC", "our_control.c", "-o", "lib.so", cwd=self.folder)
        exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", self.folder / "lib.so").splitlines()}
        self.assertEqual(exported, functions() | TABLES)

    def test_license_and_version_are_at_the_top(self) -> None:
        for path in self.folder.iterdir():
            text = path.read_text()
            self.assertTrue(text.startswith("/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */\n"))
            self.assertRegex(text.split("*/")[1], r"our_control [\d.]+, commit ([0-9a-f]{12}|not known)")
            self.assertIn("Redistribution and use", text)
            self.assertEqual(text.count("SPDX-License-Identifier"), 1)


class Installed(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    root: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name) / "root"
        (cls.root / "usr/include").mkdir(parents=True)  # as on any machine
        (cls.root / "usr/include/other.h").write_text("")
        make("install", f"DESTDIR={cls.root}", "PREFIX=/usr")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_it_is_removed(self) -> None:
        """All is removed except folders that others may use, too; also from a path with a blank."""
        copy = Path(self.folder.name) / "a copy"
        shutil.copytree(self.root, copy, symlinks=True)
        make("uninstall", f"DESTDIR={copy}", "PREFIX=/usr")
        self.assertEqual([path.name for path in copy.rglob("*") if not path.is_dir()], ["other.h"])

    def test_programs_outside_of_the_tree_use_it(self) -> None:
        """Without DESTDIR: in C++, and in C with the shared library and with the static one."""
        prefix, using = Path(self.folder.name) / "prefix", Path(self.folder.name) / "using"
        make("install", f"PREFIX={prefix}")
        shutil.copytree(USING, using)
        shutil.copy(prefix / "share/doc/rdma-by-example/examples/echo_client.c", using)
        env = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig:{os.environ.get('PKG_CONFIG_PATH', '')}"}
        run("make", env=env, cwd=using)
        env = {"LD_LIBRARY_PATH": f"{prefix}/lib"}
        run(using / "plus", env=env)
        for name, is_shared in (("echo", True), ("echo-static", False)):
            usage = subprocess.run([using / name], env=env, capture_output=True, text=True, timeout=60)
            self.assertEqual(usage.returncode, 2)
            self.assertIn("usage", usage.stderr)
            self.assertEqual("[libour_control.so.0]" in run("readelf", "-d", using / name), is_shared)
        make("uninstall", f"PREFIX={prefix}")
        self.assertEqual([path for path in prefix.rglob("*") if not path.is_dir()], [])

    def test_the_shared_object_has_a_version(self) -> None:
        """The loader refuses a program that was linked with another one."""
        version = re.findall(r"^VERSION = (\S+)$", (TOP / "tools/packaging/packaging.mk").read_text(), re.MULTILINE)[0]
        lines = run("nm", "-D", "--defined-only", self.root / f"usr/lib/libour_control.so.0.{version}").splitlines()
        exported = {line.split()[-1] for line in lines} - {f"OUR_CONTROL_{version}"}
        self.assertEqual(exported, {f"{name}@@OUR_CONTROL_{version}" for name in functions() | TABLES})

    def test_each_function_has_a_page(self) -> None:
        pages = self.root / "usr/share/man/man3"
        self.assertEqual({path.stem for path in pages.iterdir()}, functions() | INLINE)
        for path in pages.iterdir():
            text = path.read_text()
            text = (self.root / "usr/share/man" / text.split()[1]).read_text() if text.startswith(".so ") else text
            self.assertRegex(text, rf"\b{path.stem}\(")
