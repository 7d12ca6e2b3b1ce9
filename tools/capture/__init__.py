# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A stage's conversation between two hosts of the lab, as a ladder: see __main__.py."""
