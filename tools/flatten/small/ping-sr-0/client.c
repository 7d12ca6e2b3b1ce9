/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened client does not wait for its server: no -w.
 */
#include "common/control.h"

static int connect_to_server(struct our_control *client)
{
	return connect_to_any(client, false);
}
