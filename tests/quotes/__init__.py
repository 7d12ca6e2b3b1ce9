# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Outputs of commands that pages quote: finds them, and checks that the commands still print them."""
