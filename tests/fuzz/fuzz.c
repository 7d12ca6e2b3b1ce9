/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: functions that the harnesses share. See fuzz.h. libFuzzer and the
 * sanitizers write to file descriptor 2, whatever stderr is in the C library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define ROOM 4096

static struct told {
	FILE *file;
	char text[ROOM];
} told_stdout, told_stderr;

void fuzz_broken(const char *what, const char *file, int line)
{
	dprintf(STDERR_FILENO, "%s:%d: does not hold: %s\n", file, line, what);
	dprintf(STDERR_FILENO, "stderr was told: %s\n", told_stderr.file ? fuzz_stderr() : "");
	abort();
}

static FILE *forget(struct told *told)
{
	if (!told->file)
		told->file = fmemopen(told->text, ROOM, "w");
	fuzz_claim(told->file);
	rewind(told->file);
	memset(told->text, 0, strlen(told->text));
	return told->file;
}

void fuzz_listen(void)
{
	stdout = forget(&told_stdout);
	stderr = forget(&told_stderr);
}

const char *fuzz_stdout(void)
{
	fflush(told_stdout.file);
	return told_stdout.text;
}

const char *fuzz_stderr(void)
{
	fflush(told_stderr.file);
	return told_stderr.text;
}

void fuzz_claim_one_line(void)
{
	const char *said = fuzz_stderr();
	const char *end = strchr(said, '\n');

	fuzz_claim(end && end > said && !end[1]);
	fuzz_claim(!*fuzz_stdout());
}

uint64_t fuzz_take(struct fuzz_input *input, unsigned int bytes)
{
	uint64_t value = 0;

	for (; bytes; bytes--) {
		value = value << 8 | (input->left ? *input->data : 0);
		if (input->left) {
			input->data++;
			input->left--;
		}
	}
	return value;
}

uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);

	fuzz_claim(copy || !size);
	if (size)
		memcpy(copy, data, size);
	return copy;
}
