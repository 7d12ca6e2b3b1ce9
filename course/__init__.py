# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Exercises: how one is cut out of the sources, and how a solution is graded. See README.md."""
