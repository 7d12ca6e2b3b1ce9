# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of bench/compare and bench/report. To import them no RDMA device is needed."""
