# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of tests/bare: bare root file systems, scenarios in them, and how their output is judged."""
