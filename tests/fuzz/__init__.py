# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What a peer or a user may send, by libFuzzer; skipped without clang."""
