# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Attacks on the jail of course/jail.py: sources that read the grader's files, or use up the machine.

Place: course/tests/graded runs it in the lab's guest: python3 -m exercises.in_jail FILE. Contract: prints a line "NAME: why it
succeeded" for each attack; nothing follows the colon if the jail has held.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from course import jail
from exercises.dishonest import READS
from exercises.solutions import TOP

INCLUDES = "#include <dirent.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n"
OPENS = INCLUDES + """int main(void)
{
	const char *const names[] = { "FILE", "/proc/1/rootFILE", "/proc/self/cwdFILE", "../../../..FILE" };
	char bytes[100] = "";

	for (int i = 0; i < 4; i++) {
		int fd = open(names[i], O_RDONLY);
		if (fd >= 0 && read(fd, bytes, sizeof(bytes) - 1) > 0)
			printf("%s\\n", bytes);
	}
	printf("uid %d, pid %d\\n", (int)getuid(), (int)getpid());
}
"""
LISTS = INCLUDES + """int main(void)
{
	DIR *dir = opendir("/");

	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			printf("%s ", entry->d_name);
	for (int i = 0; i < 3; i++) {
		const char *const names[] = { "/work/new", "/usr/new", "/etc/new" };
		if (creat(names[i], 0666) >= 0)
			printf("%s was created\\n", names[i]);
	}
}
"""
LEAVES = INCLUDES + """#include <linux/keyctl.h>
#include <sys/syscall.h>
int main(void)
{
	const char *const names[] = { "/tmp/left", "/var/tmp/left", "/dev/shm/left", "/work/left" };

	for (int i = 0; i < 4; i++)
		if (!access(names[i], F_OK) || (creat(names[i], 0666) < 0 && !i))
			printf("%s was there\\n", names[i]);
	if (syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", "left", 0) >= 0)
		printf("a key was there\\n");
	syscall(SYS_add_key, "user", "left", "x", 1, KEY_SPEC_USER_KEYRING);
	if (!fork())
		pause();
	printf("ran\\n");
}
"""
SEEN = {"bin", "dev", "etc", "lib", "lib64", "proc", "sys", "tmp", "usr", "work"}


def compiled(source: str) -> tuple[int, str]:
    """The exit status of the compiler, and what it said."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "attack.c").write_text(source)
        return jail.build(Path(name), [["cc", "attack.c", "-o", "attack"]], ["attack"], 120)


def ran(source: str) -> str:
    """The output of a program, or the reason why there is none."""
    status, said = compiled(source)
    if status:
        return said
    run = jail.confined(["/work/attack"], "/", True, jail.RUNS)
    return subprocess.run(run, capture_output=True, text=True, timeout=60).stdout


def beside() -> str:
    """Says what a program of the submission can do to a partner over the simulated device."""
    status, said = compiled((Path(__file__).parent / "attacks/reach.c").read_text())
    if status:
        return said
    jail.lend(["build/course/enter"], TOP, jail.PARTNERS)
    for name in ("work/project/secret", "tmp/said", "tmp/world"):
        (jail.PARTNERS / name).write_text("")
        (jail.PARTNERS / name).chmod(0o666)
    line = "sleep 60 & VERBS_SIM_WORLD=/tmp/world build/course/enter /submission 1 /tmp/said /work/attack; kill $!"
    done = subprocess.run(jail.beside(["sh", "-c", line], "/work/project"), capture_output=True, text=True, timeout=60)
    return done.stderr + (jail.PARTNERS / "tmp/said").read_text()


def command(*words: str, limit_s: float = 20) -> tuple[int, str]:
    """The exit status and output of a command in the place of the compiler."""
    with tempfile.TemporaryDirectory() as name:
        return jail.build(Path(name), [list(words)], [], limit_s)


def in_cases() -> str:
    """The output of a program that runs in two cases, and leaves in the first all that it can."""
    compiled(LEAVES)
    said = ""
    for _ in range(2):
        jail.begin_case()
        run = jail.confined(["/work/attack"], "/", True, jail.RUNS, jail.new_user())
        said += subprocess.run(run, capture_output=True, text=True, timeout=60).stdout
    left = (jail.GROUP / "cgroup.procs").read_text()
    return said + (f"processes {left}" if left else "")


def refused(source: str, *reasons: str) -> str:
    """Returns an empty string if the compiler fails, for one of these reasons."""
    status, said = compiled(source)
    return "" if status and any(reason in said for reason in reasons) else f"{status}: {said[:300]}"


def main() -> int:
    """Tries all attacks. Returns the exit status."""
    secret = Path(sys.argv[1])
    text = secret.read_text().strip()
    jail.prepare()
    reached = beside()
    opened, listed = ran(OPENS.replace("FILE", str(secret))), ran(LISTS)
    warned = command("sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x >&2")
    net, late = command("sh", "-c", "cat /proc/net/dev >&2; exit 3"), command("sleep", "10000", limit_s=1)
    found = {
        "the shadow passwords are not there to include": refused('#include "/etc/shadow"\n', "No such file"),
        "nor is a file of the grader": refused(f'#include "{secret}"\n', "No such file"),
        "nor can a macro of the assembler put it together": refused("int main(void) { return 0; }" + READS, "file not found"),
        "an endless file ends": refused('#include "/dev/zero"\n', "device", "memory", "large", "Killed"),
        "an endless repetition ends": refused('__asm__(".rept 2000000000\\n.quad 1\\n.endr");', "memory", "large", "signal", "space"),
        "the compiler's time ends": "" if late[0] and "still running after 1 s" in late[1] else f"{late}",
        "what it says is limited": "" if len(warned[1]) == jail.LONGEST and not warned[0] else f"{warned[0]}, {len(warned[1])}",
        "the compiler has no network": "" if net[0] == 3 and re.findall(r"\w+(?=:)", net[1]) == ["lo"] else f"{net}",
        "a program opens no file of the grader": "" if opened == "uid 65534, pid 1\n" else opened.replace(text, "LEAKED"),
        "nor reaches a partner over the simulated device": "" if reached == "uid 1\n" else reached,
        "nothing of a case is there in the next": "" if (two := in_cases()) == "ran\nran\n" else two,
        "it sees what it needs, and writes nowhere": "" if set(listed.split()) == SEEN else listed,
    }
    for name, why in found.items():
        print(f"{name}: {' '.join(why.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
