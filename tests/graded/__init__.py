# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the grader says of right, lazy, wrong and dishonest solutions; long."""
