# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The place for programs that need an RDMA device: a guest of the lab, or this machine's own device.

Place: used by bench/ and tests/. Contract: nothing but the environment decides.
"""

import os

IN_GUEST = "LAB_GUEST" in os.environ
ON_DEVICE = bool(os.environ.get("RDMA_ADDR")) and not IN_GUEST and os.environ.get("LAB") != "1"
