/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input, by libFuzzer. Contract: functions that the harnesses share. Each harness
 * has the function that libFuzzer calls with one input after the other, and checks claims that must
 * hold for all of them.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The harness. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, by name, unless `what` holds: that is what is to be found. */
#define fuzz_claim(what) ((what) ? (void)0 : fuzz_broken(#what, __FILE__, __LINE__))
void fuzz_broken(const char *what, const char *file, int line) __attribute__((noreturn));

/* Forgets the output so far; from the first call on, stdout and stderr are memory. */
void fuzz_listen(void);

/* The output since then; valid until the next fuzz_listen. */
const char *fuzz_stdout(void);
const char *fuzz_stderr(void);

/* Claims that one line was written to stderr, and nothing to stdout. */
void fuzz_claim_one_line(void);

/* An input that is read from its beginning on. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

/* The next `bytes` of it (at most 8) as a number, big-endian; beyond its end there are zeros. */
uint64_t fuzz_take(struct fuzz_input *input, unsigned int bytes);

/* A copy with nothing readable behind it, to be freed. */
uint8_t *fuzz_copy(const uint8_t *data, size_t size);

#endif
