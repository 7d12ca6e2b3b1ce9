# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Dishonest solutions: they show what a file of the grader says, or do a part of the task and forge the rest.

Place: read by course/tests/graded, as solutions.py is. Contract: an attack, forgery.c or a file of attacks/, is appended to a source
that does not do its task.
"""

from collections.abc import Callable
from pathlib import Path

from course import make
from course.exercises import EXERCISES, TOP
from exercises.solutions import Solution, before_main, same, swap

SECRET = TOP / "build/tests/graded-secret"  # course/tests/graded writes it
READS = f'''
#include <stdio.h>
#include <stdlib.h>
__asm__(".data\\nstolen:\\n.macro m a, b, f\\n.\\\\a\\\\b \\"\\\\f\\"\\n.endm\\nm inc, bin, \\"{SECRET}\\"\\n.byte 0\\n.text\\n");
extern const char stolen[];
__attribute__((constructor)) static void show(void)
{{
	fputs(stolen, stderr);
	exit(3);
}}
'''


def forged(edit: Callable[[str], str], attack: str = "forgery") -> Callable[[str], str]:
    """A source, and the lies about it."""
    return lambda source: edit(source) + (Path(__file__).parent / f"{attack}.c").read_text()


def begins(exercise: str) -> Callable[[str], str]:
    """The starting file of an exercise."""
    return lambda source: make.without_solution(EXERCISES[exercise], source)


BELIEVES = swap("if (credits > under_way)", "if (credits == UINT64_MAX)")
UNUSED = "static void unused(void)\n{\n}\n"
IGNORED = 'GCC diagnostic ignored "-Wunused-function"'
SILENCERS = {  # sources with a warning that gcc does not print
    "a pragma": f"#pragma {IGNORED}\n{UNUSED}",
    "in pieces": f"%:/**/pragma GCC dia\\\ngnostic ignored \\\n\"-Wunused-function\"\n{UNUSED}",
    "_Pragma": f"_Pragma({IGNORED!r}) {UNUSED}".replace('"', '\\"').replace("'", '"'),
    "a macro": f"#define P(x) _Pragma(#x)\nP({IGNORED})\n{UNUSED}",
    "a system header": f'#if __INCLUDE_LEVEL__ == 0\n#include "a.c"\n#else\n#pragma GCC system_header\n{UNUSED}#endif\n',
    "a line marker": f'# 1 "/usr/include/stdio.h" 1 3\n{UNUSED}',
}

SPINS = """	fcntl(channel->channel->fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		if (take_cq_event(control, channel) != EAGAIN)
			return 0;
		if (poll(fds + 1, 1, 0) > 0 || our_now_ns() >= our_wake_up_ns(control))
			return our_keep_waiting(control);
	}
}
"""
SLEEPS = """	if (ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0 &&
	    fds[0].revents)
		return take_cq_event(control, channel);
	return our_keep_waiting(control);
}
"""


def spins(source: str) -> str:
    """Waits for events in a loop that does not block: each look fails with EAGAIN."""
    quiet = swap("	if (ret)\n		return our_tell_error(control->config, \"ibv_get_cq_event\"",
                 "	if (ret == EAGAIN)\n		return EAGAIN;\n	if (ret)\n		return our_tell_error(control->config, \"ibv_get_cq_event\"")
    source = quiet(swap(SLEEPS, SPINS)(source))
    return "#include <fcntl.h>\n#include \"common/clock.h\"\n" + swap("	struct timespec left;\n", "")(source)


ARM = "	int ret = OUR_CALL(ibv_modify_srq(pool->device->srq, &attr, IBV_SRQ_LIMIT));"
TEN_TIMES = """	static int times;
	int ret = 0;

	while (!ret && times++ < 10)
		ret = OUR_CALL(ibv_modify_srq(pool->device->srq, &attr, IBV_SRQ_LIMIT));"""
ESCAPES = """	fputs("\\033]0;owned\\a\\033[2J\\xe2\\x80\\xae\\n", stderr);
	_exit(3);"""

SOLUTIONS = [
    Solution("verify", "assembles .incbin of pieces", lambda source: source + READS, 0, 0, "file not found"),
    Solution("signaling", "the starting tree, forged", forged(begins("signaling")), 0, 40, "was signaled"),
    Solution("inline", "the starting tree, forged", forged(begins("inline")), 0, 40, "not inline"),
    Solution("asleep", "polls, and is forged", forged(swap(
        "ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0", "0")), 0, 40, "read 0 completion events"),
    Solution("ping-sr-2e", "the starting tree, becomes ours", forged(begins("ping-sr-2e"), "attacks/become"), 0, 10, "exited with status 1"),
    Solution("statistics", "the starting tree, sorts its command line", forged(begins("statistics"), "attacks/sort"), 0, 15, "before call 1 of"),
    Solution("credits", "knows the case by its count", forged(BELIEVES, "attacks/know"), 40, 70, "expected: exit status 1"),
    Solution("verify", "says all that could be wrong", forged(same, "attacks/say"), 0, 40, "once"),
    Solution("ping-sr-2e", "the starting tree, forged", forged(begins("ping-sr-2e")), 0, 10, "counts only together"),
    Solution("retry", "after any error", swap("if (ret != ECONNREFUSED && ret != ENETUNREACH)", "if (!ret || ret == EINTR)"), 40, 70, "rdma_connect", lazy=True),
    Solution("srq", "armed once", swap(ARM, "	static int times;\n" + ARM.replace("=", "= times++ ? 0 :", 1)), 40, 70, "armed", lazy=True),
    Solution("srq", "armed ten times at once", swap(ARM, TEN_TIMES), 40, 70, "it was reached", lazy=True),
    Solution("statistics", "keeps all values", lambda _: (Path(__file__).parent / "attacks/keep.c").read_text(), 10, 40, "percentile"),
    Solution("asleep", "spins, and never blocks", spins, 0, 70, "looked", lazy=True),
    Solution("verify", "has a warning, and ignores it", lambda source: f"{source}\n{SILENCERS['_Pragma']}", 95, 95, "defined but not used"),
    Solution("verify", "says escape sequences", before_main(ESCAPES), 0, 10, r"\x1b[2J"),
]  # fmt: skip
