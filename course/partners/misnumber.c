/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server's part for the exercise "immediate": the third message has the number of the fourth.
 * Linked with --wrap=our_write_message.
 */
#include "beyond/ping-rdma-3/watch.h"

int __real_our_write_message(struct our_control *control, struct our_watch *watch, uint64_t number);
int __wrap_our_write_message(struct our_control *control, struct our_watch *watch, uint64_t number);

int __wrap_our_write_message(struct our_control *control, struct our_watch *watch, uint64_t number)
{
	return __real_our_write_message(control, watch, number == 2 ? 3 : number);
}
