# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# What verbs-trace and verbs-sim are made with: a table of the calls of both libraries, and what writes their wrappers from it.

TABLES = $(wildcard tools/verbs/*.py tools/verbs/*.txt)
# The functions of libc have other versions on other processors.
GENERATE = MACHINE=$(shell $(CC) -dumpmachine) python3 -B tools/verbs
PRELOADED = -fPIC -fvisibility=hidden -ftls-model=initial-exec -Wno-array-parameter
