# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Functions that need no device, by Check, with UBSan; and wrong usage of programs."""
