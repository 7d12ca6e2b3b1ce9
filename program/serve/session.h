/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A session: facts that a program of the suite keeps about a connection beside its messages, such
 * as the terms on which a server admitted its client, or the reason for refusing it. Only the
 * connection's own thread uses it, unless a member says otherwise.
 */
#ifndef OUR_SESSION_H
#define OUR_SESSION_H

#include "program/measure/run.h"

struct our_admission;
struct our_agent;

struct our_session {
	struct our_run run; /* first: control->user points to both */

	/* Used by a server: its limits for clients, shared; and the state of one agent */
	struct our_admission *admission; /* any thread: see admission.h */
	uint64_t memory;                 /* bytes for which the client was admitted */
	struct our_agent *agent;         /* in a loop: see ping-sr-4/server.h */
	int refusal_reason; /* why we refuse its client: ping-sr-1/connect_info.h; 0: no refusal */
	uint64_t refusal_limit;
};

static inline struct our_session *our_session_of(const struct our_control *control)
{
	return control->user;
}

/*
 * Allocates a control structure, as our_create_control_struct does, and its session, which is all
 * zero except for the run's options. Returns 0 and *control, or ENOMEM, reported.
 * our_destroy_session frees both.
 */
int our_create_session(const struct our_config *config, const struct our_options *options,
		       enum our_role role, struct our_control **control);
void our_destroy_session(struct our_control *control);

/*
 * Keeps the reason for a refusal, which the server tells the client: see struct
 * our_connect_info_ops. Returns ERANGE.
 */
int our_note_refusal(struct our_control *control, int reason, uint64_t limit);

#endif
