# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""That the labs, docs/primer.md, docs/capture.md and course/README.md quote what their commands print."""
