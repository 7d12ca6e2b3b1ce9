# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace: that it knows every call of the libraries, and changes nothing of what a program does; its picture."""
