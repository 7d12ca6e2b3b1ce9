# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes one role of a stage as one C file, for people who copy. See __main__.py."""
