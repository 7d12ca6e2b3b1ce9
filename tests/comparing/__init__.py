# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of bench/comparison: none of them needs an RDMA device."""
