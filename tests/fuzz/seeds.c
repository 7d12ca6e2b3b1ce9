/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: takes the place of libFuzzer, with any compiler. Contract: passes each of
 * the named files to the harness, once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#define MAX_SIZE 4096

/* Not every harness has one. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

int main(int argc, char **argv)
{
	uint8_t data[MAX_SIZE];
	size_t size;
	FILE *file;
	int i;

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++) {
		file = fopen(argv[i], "rb");
		fuzz_claim(file);
		size = fread(data, 1, sizeof(data), file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, size);
	}
	return EXIT_SUCCESS;
}
