# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Outputs of commands that pages quote: which they are, and whether a command still prints them."""
