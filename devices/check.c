/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: the steps, one after the other, and the remedy of the first that fails. See
 * check.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "devices/check.h"
#include "program/look_up.h"

static const struct step {
	const char *name;
	enum check_verdict (*look)(struct check *check);
} steps[] = {
	{ "device", check_kernel_device },
	{ "verbs", check_verbs_node },
	{ "CM", check_cm_node },
	{ "library", check_library },
	{ "address", check_address },
	{ "netdev", check_netdev },
	{ "link", check_link },
	{ "port", check_port_state },
	{ "GID", check_gid },
	{ "connecting", check_cm },
	{ "memory", check_memlock },
	{ "MTU", check_mtu },
	{ "firewall", check_firewall },
	{ "peer", check_peer },
};

enum check_verdict check_say(struct check *check, enum check_verdict verdict, const char *format,
			     ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
	return verdict;
}

enum check_verdict check_fail(struct check *check, const char *remedy, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
	if (!*check->remedy)
		snprintf(check->remedy, sizeof(check->remedy), "%s", remedy);
	return CHECK_FAILS;
}

static int take_steps(struct check *check)
{
	static const char *const words[] = { "ok", "FAILS", "?", "-" };
	unsigned int failed = 0, unknown = 0;
	enum check_verdict verdict;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		check->text[0] = '\0';
		verdict = steps[i].look(check);
		failed += verdict == CHECK_FAILS;
		unknown += verdict == CHECK_UNKNOWN;
		printf("%-5s  %-10s  %s\n", words[verdict], steps[i].name, check->text);
	}
	if (failed)
		printf("remedy: %s\n", check->remedy);
	else
		printf("nothing was found that is wrong; %u things cannot be told from here (?)\n",
		       unknown);
	return failed ? EIO : 0;
}

int devices_check(const char *address, const char *port)
{
	struct check check = { .address = address, .port = port };
	struct addrinfo *found;
	int ret = our_look_up_addresses(address, port, &found);

	if (ret)
		return ret;
	check.target = found->ai_addr;
	ret = take_steps(&check);
	if (check.opened)
		devices_close(&check.devices);
	our_free_addresses(found);
	return ret;
}
