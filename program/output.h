/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Output that never blocks, for a program that serves many clients from one thread and must not
 * wait for a slow reader of its stdout or stderr. Keeps output in memory until the reader takes it;
 * drops and counts output beyond OUR_OUTPUT_LIMIT. One thread.
 */
#ifndef OUR_OUTPUT_H
#define OUR_OUTPUT_H

#include <poll.h>
#include <stdint.h>

#define OUR_OUTPUT_LIMIT (1u << 20) /* bytes kept for each of the two */
#define OUR_OUTPUTS      2

/*
 * Replaces the streams stdout and stderr, which glibc allows: see fopencookie(3). Returns 0 or an
 * errno value, reported, and nothing has changed. our_end_output undoes it.
 */
int our_start_output(void);

/*
 * Fills in fds[OUR_OUTPUTS] for poll(2): the descriptors that have something to write, always with
 * that many entries. our_write_output writes as much as it can without blocking, after poll has
 * returned.
 */
void our_list_output(struct pollfd *fds);
void our_write_output(const struct pollfd *fds);

/*
 * Writes the remaining output, waiting at most until our_now_ns is `until_ns`, restores both
 * streams, and says on stderr how much was dropped. Returns 0; the errno value of a stdout that
 * could not be written to, reported; or EAGAIN: some output was dropped.
 */
int our_end_output(uint64_t until_ns);

#endif
