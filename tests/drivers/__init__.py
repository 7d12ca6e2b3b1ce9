# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tools over the real drivers: the faults that verbs-trace reports, devices, bench/fabric, bench/primitives, what pages quote."""
