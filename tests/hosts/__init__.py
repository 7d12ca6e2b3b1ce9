# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of tests/sweep: what may happen to two hosts and the links between them."""
