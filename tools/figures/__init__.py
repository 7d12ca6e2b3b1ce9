# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Draws docs/figures/*.svg: python3 -B -m tools.figures."""
