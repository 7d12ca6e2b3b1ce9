# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every stage over the simulated device: rows of live/, the same seed is the same run, failing calls, stops, crowds, waits; and verbs-sim itself."""
