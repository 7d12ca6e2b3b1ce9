# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of memory orders that this machine's processor does not weaken."""
