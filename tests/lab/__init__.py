# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The lab itself, and what takes a machine of it to pieces; long."""
