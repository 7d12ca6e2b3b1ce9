/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: the steps, one after the other, and the remedy of the first that fails. See
 * check.h.
 */
#include <errno.h>
#include <stdio.h>

#include "devices/check.h"
#include "program/option_values.h"

static const struct step {
	const char *name;
	enum check_verdict (*look)(struct check *check);
	bool of_machine; /* the step needs no address */
} steps[] = {
	{ "device", check_kernel_device, true },
	{ "verbs", check_verbs_node, true },
	{ "CM", check_cm_node, true },
	{ "library", check_library, true },
	{ "address", check_address, false },
	{ "netdev", check_netdev, false },
	{ "link", check_link, false },
	{ "port", check_port_state, false },
	{ "GID", check_gid, false },
	{ "subnet", check_subnet, false },
	{ "connecting", check_cm, false },
	{ "memory", check_memlock, true },
	{ "MTU", check_mtu, false },
	{ "firewall", check_firewall, false },
	{ "peer", check_peer, false },
};

/*
 * Takes a step. Without a target, uses an address of this machine, once its devices are known; if
 * it has none, skips steps that need one.
 */
static enum check_verdict take(struct check *check, const struct step *step)
{
	if (!step->of_machine && !check->target && check->opened)
		check_own_address(check);
	if (!step->of_machine && !check->target)
		return check_say(check, CHECK_SKIPPED, "no address is known");
	return step->look(check);
}

static int take_steps(struct check *check)
{
	static const char *const words[] = { "ok", "FAILS", "?", "-" };
	unsigned int failed = 0, unknown = 0;
	enum check_verdict verdict;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		verdict = take(check, &steps[i]);
		failed += verdict == CHECK_FAILS;
		unknown += verdict == CHECK_UNKNOWN;
		printf("%-5s  %-10s  %s\n", words[verdict], steps[i].name, check->text);
	}
	if (failed)
		printf("remedy: %s\n", check->remedy);
	else
		printf("nothing was found that is wrong; %u thing%s cannot be told from here (?)\n",
		       unknown, unknown == 1 ? "" : "s");
	return failed ? EIO : 0;
}

int devices_check(const char *address, const char *port)
{
	struct check check = { .address = address, .port = port };
	struct addrinfo *found = NULL;
	int ret = *address ? our_look_up_addresses(address, port, &found) : 0;

	if (ret)
		return ret;
	check.target = found ? found->ai_addr : NULL;
	ret = take_steps(&check);
	if (check.opened)
		devices_close(&check.devices);
	if (found)
		our_free_addresses(found);
	return ret;
}
