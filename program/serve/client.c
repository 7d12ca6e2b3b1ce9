/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client: the addresses of its server, which it tries in turn, repeatedly with -w, and its
 * private data for the server. Each try is a whole connection: see ping-sr-0/client.c.
 */
#include <errno.h>
#include <netdb.h>
#include <time.h>

#include "common/clock.h"
#include "program/config.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

/* Tries each address of the server's name until one works. */
static int run_with_any(struct our_control *client, bool quietly)
{
	struct addrinfo *address;
	int ret = 0;

	our_program_config_of(client->config)->quietly = quietly;
	for (address = our_options_of(client)->addresses; address; address = address->ai_next) {
		ret = our_stage_of(client)->client(client, address->ai_addr);
		if (client->accepted || ret == EINTR || ret == EMSGSIZE)
			break;
		if (address->ai_next && !quietly)
			our_report_sentence("trying the next address of %s",
					    our_options_of(client)->address);
	}
	return ret;
}

/* Runs the client. With -w, tries again until server and link are up or the time is over. */
int our_run_client(struct our_control *client)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	uint64_t deadline = our_now_ns() + our_options_of(client)->wait_s * OUR_NS_PER_S;
	int ret;

	while (our_now_ns() < deadline) {
		ret = run_with_any(client, true);
		if (ret != ECONNREFUSED && ret != ENETUNREACH)
			return ret;
		nanosleep(&pause, NULL);
		if (our_stop_requested(client->stop))
			return EINTR;
	}
	return run_with_any(client, false);
}

int our_tell_and_connect(struct our_control *client)
{
	const struct our_connect_info_ops *ops = our_stage_of(client)->connect_info;
	uint8_t data[OUR_MOST_TO_CONNECT];
	size_t length = ops ? ops->tell(client, data) : 0;

	return our_client_connect(client, length ? data : NULL, length);
}
