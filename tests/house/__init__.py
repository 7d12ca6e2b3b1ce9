# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
