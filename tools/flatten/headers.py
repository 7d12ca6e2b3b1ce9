# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which of the system's headers a program needs: one of those below only if it has one of their words."""

from __future__ import annotations

import re

WORDS = {
    "ctype.h": r"is(?:digit|space)",
    "endian.h": r"(?:be|le)\d+toh|hto(?:be|le)\d+",
    "fcntl.h": r"fcntl|open",
    "linux/capability.h": r"CAP_\w+",
    "netinet/in.h": r"sockaddr_in6?|INADDR_\w+|IN6_\w+|ntohs|htons",
    "poll.h": r"p?poll|pollfd",
    "pthread.h": r"pthread_\w+",
    "stdatomic.h": r"atomic_\w+|_Atomic|memory_order_\w+",
    "stddef.h": r"offsetof",
    "sys/eventfd.h": r"eventfd\w*",
    "sys/queue.h": r"(?:S?LIST|STAILQ|TAILQ)_\w+",
    "sys/resource.h": r"[gs]etrlimit|getrusage",
    "sys/syscall.h": r"syscall",
    "time.h": r"timespec|clock_gettime|nanosleep",
}


def is_wanted(header: str, words: set[str]) -> bool:
    return any(re.fullmatch(WORDS[header], word) for word in words)
