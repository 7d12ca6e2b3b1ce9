# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every stage over the simulated device: rows of live/, seeds, failing calls, stops, figures, options, limits, crowds, waits; and verbs-sim itself."""
