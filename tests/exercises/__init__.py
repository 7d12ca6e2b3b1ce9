# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the exercises and of the grader."""
