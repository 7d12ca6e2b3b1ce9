/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: what both sides of a conversation share. Only the connection's own thread calls it.
 */
#ifndef OUR_TALK_H
#define OUR_TALK_H

#include <stdbool.h>
#include <stdint.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/talk-rdma-0/slot.h"
#include "program/options.h"
#include "program/stage.h"

enum our_talk_buffer {
	OUR_SLOT_BUFFER, /* the other side writes here, and reads it back */
	OUR_LINE_BUFFER, /* our line, until the other side has taken it */
	OUR_BACK_BUFFER, /* the other side's slot, as we have read it back */
	OUR_TALK_BUFFERS,
};

/* The state of a side beside struct our_control. All zero at first. */
struct our_talk {
	struct our_one_sided one_sided; /* its open buffer: the slot, for the other side */
	struct ibv_mr *sink;            /* the region for what we read back */
	struct ibv_sge text_sge, mark_sge;
	struct ibv_send_wr text_wr, mark_wr;
	bool at_end;      /* stdin has ended */
	uint32_t said;    /* lines that the other side has taken */
	uint32_t heard;   /* lines of the other side */
	bool saying;      /* line number said + 1 is on its way */
	bool reading;     /* the line is being read back */
	uint64_t look_ns; /* when to read the line back once more */
	uint64_t said_ns; /* when the line was written */
	bool told;        /* our count has been sent */
};

/* ---- talk.c ---- */

/*
 * Sets up QP, buffers, the slot for the other side, and the exchange's receives, before the connection
 * can bring a message. Returns 0, or an errno value, reported, with nothing left behind.
 * our_unsetup_talk undoes it, after our_disconnect.
 */
int our_setup_talk(struct our_control *control, struct our_talk *talk);
void our_unsetup_talk(struct our_control *control, struct our_talk *talk);

/* Prepares the statistics, and limits the wait for the other side's first message. */
void our_begin_talk(struct our_control *control);

/*
 * Checks that the other side's slot, which it has described, can be written and read back, by its
 * length and the limit of READs. Returns 0; EPROTO or another errno value, both reported.
 */
int our_check_slot(struct our_control *control, const struct our_talk *talk);

/* Talks until both sides have no more to say. Returns 0, or an errno value, reported. */
int our_talk(struct our_control *control, struct our_talk *talk);

/* Ends the statistics, and judges `ret`, how the conversation has ended. Returns as our_judge_end does. */
int our_end_talk(struct our_control *control, const struct our_talk *talk, int ret);

/* ---- lines.c ---- */

/*
 * Returns a typed line, if there is one, without waiting; if none is complete, waits up to
 * `limit_ms`. Returns its length, the line in text[OUR_SLOT_TEXT]; or -1: none, or no more
 * (at_end).
 */
int our_take_typed(struct our_talk *talk, int limit_ms, uint8_t *text);

/*
 * Prints a line of the other side on stdout. A terminal gets no control characters, which could
 * change more than this line: they are printed as \xNN, and so are bytes that are no UTF-8. Anything
 * else gets the bytes as they came. Returns 0, or an errno value, reported.
 */
int our_show_line(const uint8_t *text, size_t length);

/* The roles, and what the agent checks: see struct our_stage. client.c, agent.c. */
int our_talk_client(struct our_control *client, struct sockaddr *server);
int our_talk_agent(struct our_control *agent);
int our_talk_check(struct our_control *agent);

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_talk_client_program, our_talk_server_program;

#endif
