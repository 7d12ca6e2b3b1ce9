# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`make capture`: ladders of packets against the fields that tshark shows."""
