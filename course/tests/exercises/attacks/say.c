/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * At its end the program says everything that any case could want to hear: each byte of each message,
 * and each reason for a failure. See ../dishonest.py.
 */
#include <stdio.h>

__attribute__((destructor)) static void say(void)
{
	int message, byte;

	fputs("bad credits: said nothing for 5 s: no answer: 63 bytes: refused us: Connection refused: "
	      "trying the next address of two.example\n",
	      stderr);
	for (message = 0; message < 200; message++) {
		for (byte = 0; byte < 170; byte++)
			fprintf(stderr, "message %d: byte %d is 0x00, should be 0x01\n", message,
				byte);
	}
}
