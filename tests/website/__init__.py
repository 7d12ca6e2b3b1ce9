# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The site, and pages that are compared with the sources."""
