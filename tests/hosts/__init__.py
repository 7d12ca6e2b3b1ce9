# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What may happen to two hosts and the links between them."""
