# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of tests/run: the table of the suites, how one is run, and how its logs are judged."""
