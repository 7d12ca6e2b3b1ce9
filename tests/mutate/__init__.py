# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What plants faults in the programs and counts those that are noticed (make mutants)."""
