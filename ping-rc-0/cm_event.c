/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: there are no CM events, only a TCP connection that ends. Replaces common/cm_event.c;
 * see common/cm_event.h.
 */
#include "common/cm_event.h"

const char *our_end_name(int end)
{
	(void)end;
	return "TCP connection closed";
}
