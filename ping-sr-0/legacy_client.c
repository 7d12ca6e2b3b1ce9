/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Client of the stages whose roles are not functions of their own yet: what is linked under
 * the names of common/stage.h decides what they do.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/device.h"
#include "common/transfer_posting.h"
#include "ping-sr-0/legacy.h"
#include "program/report.h"

static int connect_to(struct our_control *client, struct sockaddr *address)
{
	int ret;

	ret = our_create_id(client);
	if (ret)
		return ret;
	ret = our_client_bind(client, address);
	if (ret)
		goto err_destroy_id;
	ret = our_check_data_size(client);
	if (ret)
		goto err_destroy_id;
	ret = our_setup_client_transfer(client);
	if (ret)
		goto err_destroy_id;
	ret = our_client_connect(client);
	if (ret)
		goto err_disconnect;
	return 0;

err_disconnect:
	our_disconnect(client);
	our_unsetup_transfer(client);
err_destroy_id:
	our_destroy_id(client);
	return ret;
}

int our_legacy_client(struct our_control *client, struct sockaddr *address)
{
	int ret = connect_to(client, address);

	if (ret)
		return ret;
	ret = our_client_operation(client);
	ret = our_report_results(client, ret);
	our_disconnect(client);
	our_unsetup_transfer(client);
	our_destroy_id(client);
	return ret;
}
