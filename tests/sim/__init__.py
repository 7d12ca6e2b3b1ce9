# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every stage over the simulated device: the same seed is the same run, many seeds, failing calls, stops; and verbs-sim itself."""
