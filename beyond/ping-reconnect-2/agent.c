/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a client that may come again. Before it answers a message, it does what the message
 * asks for, unless that was done on an earlier connection: it adds a line to the journal, a file
 * for each client, which outlives the server's process.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beyond/ping-reconnect-2/reconnect.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-1/connect_info.h"
#include "ping-sr-4/server.h"
#include "program/report.h"
#include "program/serve/session.h"

#define LINE 13 /* bytes: a number below OUR_COUNT_UNLIMITED, and a newline */

static const char *folder;
static const struct our_option journal_options[] = {
	{ "journal", 0, "DIR", "do the work of each message once: a line in a client's file, here",
	  OUR_OWN_TEXT(folder) },
	{ 0 },
};

const struct our_program our_reconnect_server_program = {
	.summary = "Waits for clients, which may come again, and sends all their messages back.",
	.options = { our_listener_options, journal_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

struct recorded_echo {
	struct our_echo echo; /* must be first: ping-sr-0/react.c takes the state for this */
	int fd;               /* the journal's; -1: none */
	uint64_t number;      /* the number of the next message on this connection */
};

static struct our_place read_place(const struct our_cm_event *request)
{
	struct our_place place = { 0 };

	if (request->private_data_length < OUR_CONNECT_INFO_LENGTH + sizeof(place) ||
	    request->private_data[29] != OUR_PLACE_VERSION)
		return place;
	memcpy(&place, request->private_data + OUR_CONNECT_INFO_LENGTH, sizeof(place));
	return (struct our_place){ be64toh(place.name), be64toh(place.first) };
}

/* Returns the number of messages done. A line that a kill has cut off does not count. */
static uint64_t count_lines(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END); /* -1: pwrite will say why */

	return size < 0 ? 0 : (uint64_t)size / LINE;
}

static int check_place(struct our_control *agent, const struct our_place *place, int fd)
{
	uint64_t done = count_lines(fd);

	if (place->first <= done)
		return 0;
	our_report_sentence("client refused: it has answers to %" PRIu64 " messages, and its "
			    "journal has %" PRIu64 ": is this the same folder (--journal)?",
			    place->first, done);
	our_session_of(agent)->refusal_reason = OUR_REFUSED_NO_SENSE;
	return EPROTO;
}

static int open_journal(struct our_control *agent, struct recorded_echo *recorded)
{
	const struct our_place place = read_place(&agent->cm_event);
	char path[4096];

	recorded->fd = -1;
	recorded->number = place.first;
	if (!folder || !place.name)
		return 0;
	snprintf(path, sizeof(path), "%s/%016" PRIx64, folder, place.name);
	recorded->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (recorded->fd < 0)
		return our_report_error("open", errno, "%s (--journal)", path);
	return check_place(agent, &place, recorded->fd);
}

static void close_journal(const struct recorded_echo *recorded)
{
	if (recorded->fd >= 0)
		close(recorded->fd);
}

static int start_recording(struct our_control *agent, void *state)
{
	int ret;

	ret = open_journal(agent, state);
	if (!ret)
		ret = our_echoes.start(agent, state);
	if (ret)
		close_journal(state);
	return ret;
}

static void stop_recording(struct our_control *agent, void *state)
{
	our_echoes.stop(agent, state);
	close_journal(state);
}

/*
 * The end of the file says what is done, not a variable of ours, because the client may be back
 * before the agent of its last connection has seen all messages, or that it has ended.
 */
static int do_once(struct recorded_echo *recorded)
{
	uint64_t number = recorded->number++;
	char line[LINE + 1];

	if (recorded->fd < 0 || number < count_lines(recorded->fd))
		return 0;
	snprintf(line, sizeof(line), "%012" PRIu64 "\n", number);
	errno = ENOSPC; /* pwrite sets no errno if a part of the line fits */
	if (pwrite(recorded->fd, line, LINE, (off_t)(number * LINE)) != LINE)
		return our_report_error("pwrite", errno, "the journal of a client");
	return 0;
}

static int react(struct our_control *agent, void *state, const struct our_completion *completion)
{
	int ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = do_once(state); /* the work comes before the answer, which reports it */
	return ret ? ret : our_ping_react(agent, state, completion);
}

const struct our_agent_ops our_recorded_echoes = {
	.state_size = sizeof(struct recorded_echo),
	.start = start_recording,
	.react = react,
	.stop = stop_recording,
};
