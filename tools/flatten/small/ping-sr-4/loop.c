/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The descriptors that the loop of a flattened server looks at.
 */

#define FIXED_FDS 2 /* the CM's and the signals' */
