/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Agent of the stages whose roles are not functions of their own yet: what is linked under
 * the names of common/stage.h decides what they do.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/device.h"
#include "common/transfer_posting.h"
#include "ping-sr-0/legacy.h"
#include "program/report.h"

/*
 * Exchanges messages with an accepted client. The client ends the connection when it has
 * everything. If we left first, our last message could be lost on the way to it.
 */
static int serve(struct our_control *agent)
{
	int ret;

	ret = our_agent_operation(agent);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);
	our_disconnect(agent);
	return ret;
}

/* Sets up everything that the connection needs, serves the client, and tears it down again. */
static int accept_and_serve(struct our_control *agent)
{
	int ret;

	ret = our_setup_agent_transfer(agent);
	if (ret)
		goto err_reject;
	ret = our_agent_connect(agent);
	if (ret)
		goto err_disconnect;

	ret = serve(agent);
	our_unsetup_transfer(agent);
	return ret;

err_disconnect:
	our_disconnect(agent);
	our_unsetup_transfer(agent);
err_reject:
	our_agent_reject(agent, ret);
	return ret;
}

int our_legacy_agent(struct our_control *agent)
{
	int ret;

	ret = our_migrate_id(agent);
	if (ret)
		return ret;
	ret = accept_and_serve(agent);
	our_destroy_id(agent);
	return ret;
}
