# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Before a release: programs under sanitizers and valgrind, long sieges, and what newcomers meet; long."""
