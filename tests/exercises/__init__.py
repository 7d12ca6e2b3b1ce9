# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The exercises and the grader, without a device."""
