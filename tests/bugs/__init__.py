# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""That the checks of the bug labs notice the bugs, and accept the original."""
