/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: preloaded into programs over the simulated device by test_tool.py. Contract: as on
 * virtual machines that accept that RDTSC shall raise a signal, and do nothing.
 */
int prctl(int option, ...);

int prctl(int option, ...)
{
	(void)option;
	return 0;
}
