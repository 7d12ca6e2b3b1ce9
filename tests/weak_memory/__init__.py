# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Fences, ordered accesses and loops that watch memory, in machine code."""
