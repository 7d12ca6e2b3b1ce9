# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What bench/compare and bench/report are made of. Nothing here needs an RDMA device to be imported."""
