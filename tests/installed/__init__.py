# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The library as other people get it: two files to copy, or installed."""
