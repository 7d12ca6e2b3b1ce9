# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of what the tests notice, made from the results of tests/mutants/run."""
