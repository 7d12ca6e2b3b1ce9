/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that use RDMA. Contract: counts the objects of each RDMA device of the
 * machine, and tells whether there are again as many as before anything was started.
 */
#ifndef TEST_RESOURCES_H
#define TEST_RESOURCES_H

/*
 * Remembers how many there are now, of each kind, on each device. Once, before the first test: a
 * device has some of the kernel's own. Ends the program when the kernel does not tell.
 */
void resources_remember(void);

/*
 * Fails the Check test unless all counts are again what they were. The kernel frees some things
 * after a process has ended, so there is a deadline. `when` goes into the message.
 */
void resources_assert_as_before(const char *when);

/* The same within a test: remembers the counts once more, and compares with those. */
void resources_mark(void);
void resources_assert_as_marked(const char *when);

#endif
