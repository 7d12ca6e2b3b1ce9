# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the site: tools/website, and pages that are compared with the sources."""
