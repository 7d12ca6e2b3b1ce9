# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""bench/comparison and bench/fabric, with made-up figures and launchers that start nothing; and programs of bench/ itself."""
