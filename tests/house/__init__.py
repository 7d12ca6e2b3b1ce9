# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Who may include what and who calls whom, which stage has rows of which kind; and that libour_control prints nothing, ends
nothing, and has no state of its own."""
