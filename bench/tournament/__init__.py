# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What bench/fabric is made of. It measures with the parts of bench/comparison."""
