/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: keys that a peer was told.
 */
#include <stdio.h>

#include "library.h"

/* A new client READs by this key, and leaves. `device` is its agent's. */
static void use_key(const char *whose, struct our_device *device, const struct ibv_mr *mr)
{
	struct our_completion completion;

	connect_both(device);
	post_read(0, mr, mr->rkey);
	printf("%s: %s\n", whose, our_await_completion(client, &completion) ? "refused" : "done");
	close_both();
}

/* A key outlives the operation for which its region was opened, and the connection. */
int keep_keys(void)
{
	static char memory[SIZE], closed[SIZE];
	struct our_device *device;
	struct ibv_mr *mr, *closed_mr, told;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_setup_mr(device, memory, SIZE, IBV_ACCESS_REMOTE_READ, &mr),
	     "our_device_setup_mr");
	must(our_device_setup_mr(device, closed, SIZE, 0, &closed_mr), "our_device_setup_mr");
	told = *mr;
	use_key("of the client", device, &told);
	use_key("of another client", device, &told);
	use_key("of another PD", NULL, &told);
	our_unsetup_mr(&config, mr);
	use_key("deregistered", device, &told);
	use_key("without the right", device, closed_mr);
	our_unsetup_mr(&config, closed_mr);
	our_close_device(device);
	return 0;
}
