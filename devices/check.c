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
	bool of_machine; /* needs no address */
} steps[CHECK_STEPS] = {
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

const char *const check_words[] = { "ok", "FAILS", "?", "-" };

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

void check_all(struct check *check, struct check_answer answers[CHECK_STEPS])
{
	size_t i;

	for (i = 0; i < CHECK_STEPS; i++) {
		if (!steps[i].of_machine && !check->target && check->opened)
			check_own_address(check);
		answers[i].name = steps[i].name;
		snprintf(check->text, sizeof(check->text), "no address is known");
		answers[i].verdict = check->target || steps[i].of_machine ? steps[i].look(check)
									  : CHECK_SKIPPED;
		snprintf(answers[i].text, sizeof(answers[i].text), "%s", check->text);
	}
}

static int take_steps(struct check *check)
{
	struct check_answer answers[CHECK_STEPS];
	unsigned int failed = 0, unknown = 0;
	size_t i;

	check_all(check, answers);
	for (i = 0; i < CHECK_STEPS; i++) {
		failed += answers[i].verdict == CHECK_FAILS;
		unknown += answers[i].verdict == CHECK_UNKNOWN;
		printf("%-5s  %-10s  %s\n", check_words[answers[i].verdict], answers[i].name,
		       answers[i].text);
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
