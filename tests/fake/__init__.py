# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every program over fake verbs: each call fails, and completions come in every order."""
