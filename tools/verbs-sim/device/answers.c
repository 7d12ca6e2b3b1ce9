/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Traits of a real device, from the file that tests/probe/ask has written: [QUESTION], and the lines that
 * tests/probe printed. See devices.h.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "verbs-sim/device/device.h"

#define LONGEST (1 << 18) /* bytes in a file */

enum form {
	VALUE,    /* `text` is for sscanf(3) */
	UNLESS,   /* as VALUE; this number means 0 */
	DIFFERS,  /* as VALUE: true for any other number than this */
	GREATEST, /* the number in front of `text`, in the last line that has one */
	TIMES,    /* true if this many lines or more have `text` */
	STATUS    /* the status that follows the first `text` */
};

#define ROW(question, member, form, number, text)                                  \
	{                                                                          \
		question, text, form, number, offsetof(struct sim_traits, member), \
			sizeof(((struct sim_traits *)0)->member)                   \
	}
#define SAID(member)        ROW("attributes", attr.member, VALUE, 0, #member " %lli")
#define OBJECTS(name, kind) ROW("attributes", most[kind], VALUE, 0, name " %lli")
#define OF_PORT(member)     ROW("attributes", port.member, VALUE, 0, #member " %lli")
#define DATA(question, member, event)    \
	ROW(question, member, UNLESS, 3, \
	    event ": status %*d, responder_resources %*d, initiator_depth %*d, %lli bytes")

static const struct row {
	const char *question, *text;
	enum form form;
	int64_t number;
	size_t offset, size;
} rows[] = {
	ROW("attributes", attr.max_mr_size, VALUE, 0, "max_mr_size %llx"),
	SAID(page_size_cap),
	SAID(device_cap_flags),
	SAID(max_qp_wr),
	SAID(max_cqe),
	SAID(max_srq_wr),
	SAID(max_sge),
	SAID(max_sge_rd),
	SAID(max_srq_sge),
	SAID(max_qp_rd_atom),
	SAID(max_res_rd_atom),
	SAID(max_mcast_grp),
	SAID(max_mcast_qp_attach),
	SAID(max_total_mcast_qp_attach),
	SAID(atomic_cap),
	SAID(max_pkeys),
	SAID(local_ca_ack_delay),
	ROW("attributes", attr.vendor_id, VALUE, 0, "vendor %lli"),
	OBJECTS("max_qp", SIM_QP),
	OBJECTS("max_cq", SIM_CQ),
	OBJECTS("max_mr", SIM_MR),
	OBJECTS("max_mw", SIM_MW),
	OBJECTS("max_pd", SIM_PD),
	OBJECTS("max_ah", SIM_AH),
	OBJECTS("max_srq", SIM_SRQ),
	OF_PORT(max_mtu),
	OF_PORT(gid_tbl_len),
	OF_PORT(port_cap_flags),
	OF_PORT(max_msg_sz),
	OF_PORT(pkey_tbl_len),
	OF_PORT(max_vl_num),
	OF_PORT(flags),
	ROW("caps", max_inline, GREATEST, 0, "bytes inline asked for: 2 sends"),
	ROW("caps", inline_piece, VALUE, 0,
	    "0 bytes inline asked for: %*d sends, %*d receives, 1 and 1 pieces, %lli"),
	ROW("caps", rounds_cq, DIFFERS, 3, "a CQ of 3 entries: %lli"),
	ROW("pool", rounds_srq, DIFFERS, 16, "asked for 16 receives, was given %lli"),
	ROW("pool", last_wqe, TIMES, 1, "asynchronous event: last WQE reached"),
	ROW("pool-torn", flushes_torn, TIMES, 1, "server: receive completed: Work Request"),
	ROW("solicited", solicited, TIMES, 1, "solicited only, solicited message: event"),
	DATA("accept", padded_request, "RDMA_CM_EVENT_CONNECT_REQUEST"),
	DATA("accept", padded_reply, "RDMA_CM_EVENT_ESTABLISHED"),
	DATA("reject", padded_reject, "RDMA_CM_EVENT_REJECTED"),
	ROW("reject", rejected, VALUE, 0, "RDMA_CM_EVENT_REJECTED: status %lli"),
	ROW("leave", ack_timeout, VALUE, 0, "ibv_query_qp: state %*[A-Z], ACK timeout %lli"),
	ROW("leave", tells_state, TIMES, 1, "client: ibv_query_qp: state RTS"),
	ROW("leave", flushes_late, TIMES, 4, "server: receive completed: Work Request"),
	ROW("bad-key", bad_local_key, STATUS, 0, "client: send completed: "),
	ROW("edges", beyond_region, STATUS, 0, "SEND, one beyond: client: "),
	ROW("region-gone", bad_recv_key, STATUS, 0, "server: receive completed: "),
	ROW("too-long", too_long_here, STATUS, 0, "server: receive completed: "),
	ROW("too-long", too_long_there, STATUS, 0, "client: send completed: "),
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Finds the status that has this text in libibverbs. */
static bool read_status(const char *text, int64_t *value)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY);
	void *found = library ? dlsym(library, "ibv_wc_status_str") : NULL;
	const char *(*name)(enum ibv_wc_status);
	int status;

	memcpy(&name, &found, sizeof(name));
	for (status = 0; name && status <= IBV_WC_TM_RNDV_INCOMPLETE; status++) {
		if (strcmp(name((enum ibv_wc_status)status), text))
			continue;
		*value = status;
		return true;
	}
	return false;
}

/* Finds `text` at the beginning of a word. */
static bool scan(const char *line, const char *text, int64_t *value)
{
	long long number;

	for (; line; line = strchr(line, ' ')) {
		line += *line == ' ';
		if (sscanf(line, text, &number) != 1)
			continue;
		*value = number;
		return true;
	}
	return false;
}

/*
 * Returns true if a line of the answers tells the trait. `seen` is how many lines have told it,
 * including this one if the row counts lines.
 */
static bool read_line(const struct row *row, const char *line, int *seen, int64_t *value)
{
	const char *at = strstr(line, row->text);

	if (row->form == TIMES) {
		*seen += at != NULL;
		*value = *seen >= row->number;
		return true;
	}
	if (row->form == GREATEST)
		return at && scan(line, "%lli", value);
	if (*seen)
		return false;
	if (row->form == STATUS)
		*seen = at && read_status(at + strlen(row->text), value);
	else
		*seen = scan(line, row->text, value);
	if (row->form == DIFFERS)
		*value = *value != row->number;
	else if (row->form == UNLESS && *value == row->number)
		*value = 0;
	return *seen;
}

/* Reads the whole file, past the replaced functions of a simulated program. NULL: there is none. */
static char *read_file(const char *path)
{
	static char text[LONGEST + 1];
	long fd = sim_system(SYS_openat, AT_FDCWD, path, O_RDONLY);
	long length = 0, n = fd >= 0;

	while (n > 0) {
		n = sim_system(SYS_read, fd, text + length, LONGEST - length);
		length += n > 0 ? n : 0;
	}
	text[length] = '\0';
	sim_system(SYS_close, fd);
	return length ? text : NULL;
}

bool sim_read_answers(const char *path, struct sim_traits *traits)
{
	char *rest = read_file(path), *line, question[32] = "";
	int seen[ROWS] = { 0 }, begin;
	bool any = false;
	int64_t value;
	size_t i;

	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "[%31[a-z0-9-]]", question) == 1)
			continue;
		begin = 0;
		sscanf(line, " %*[0-9.] ms %n", &begin);
		for (i = 0; i < ROWS; i++) {
			if (strcmp(rows[i].question, question) ||
			    !read_line(&rows[i], line + begin, &seen[i], &value))
				continue;
			memcpy((char *)traits + rows[i].offset, &value, rows[i].size);
			any = true;
		}
	}
	return any;
}
