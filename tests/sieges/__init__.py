# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The parts of tests/siege: hostile clients, the servers that they meet, and what is made of it."""
