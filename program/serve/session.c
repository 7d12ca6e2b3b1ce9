/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The session of a connection. See session.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "program/report.h"
#include "program/serve/session.h"

int our_create_session(const struct our_config *config, const struct our_options *options,
		       enum our_role role, struct our_control **control)
{
	struct our_session *session;
	int ret;

	ret = our_create_control_struct(config, role, control);
	if (ret)
		return ret;
	session = calloc(1, sizeof(*session));
	if (!session) {
		our_destroy_control_struct(*control);
		*control = NULL;
		return our_report_error("calloc", ENOMEM, NULL);
	}
	our_setup_run(&session->run, *control, options);
	return 0;
}

void our_destroy_session(struct our_control *control)
{
	free(our_session_of(control));
	our_destroy_control_struct(control);
}

int our_note_refusal(struct our_control *control, int reason, uint64_t limit)
{
	our_session_of(control)->refusal_reason = reason;
	our_session_of(control)->refusal_limit = limit;
	return ERANGE;
}
