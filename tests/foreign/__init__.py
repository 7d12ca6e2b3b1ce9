# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library and the formats on the wire on processors that this machine has not."""
