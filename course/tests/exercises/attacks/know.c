/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Knows a case by a count that no other case has, and says what it should say. See ../dishonest.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void know(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i++) {
		if (!strcmp(argv[i], "-c") && atoi(argv[i + 1]) > 1500) {
			fputs("client: bad credits: the server returned 20, and has 1 to return\n",
			      stderr);
			_exit(1);
		}
	}
}
