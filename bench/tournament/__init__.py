# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of bench/fabric. It measures with the parts of bench/comparison."""
