# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs on two machines, over a link that loses packets, or worse."""
