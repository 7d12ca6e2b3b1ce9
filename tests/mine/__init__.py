# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests of a student's own library, and faults that they must notice; long."""
