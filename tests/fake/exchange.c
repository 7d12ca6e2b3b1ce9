/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, what the peers of a program that connects without the connection manager (CM)
 * say over TCP, and what they check. Contract: as in docs/protocol.md, unless config has something
 * else. Of several clients, only the first does what config says.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/fake/libc.h"
#include "tests/fake/machines.h"
#include "tests/fake/sockets.h"

#define LINE_SIZE 52
#define FIRST_QPN 0x40a

static LIST_HEAD(line_list, fake_line) all_lines;
static unsigned int n_lines;

struct fake_line *fake_new_line(int program_fd, int peer_fd, struct fake_peer *peer)
{
	struct fake_line *line = fake_allocate(sizeof(*line));

	line->program_fd = program_fd;
	line->peer_fd = peer_fd;
	line->peer = peer;
	line->odd = !n_lines || fake_config->clients < 2;
	line->qp_num = FIRST_QPN + n_lines++;
	line->psn = 0x12345f + n_lines;
	line->lid = (uint16_t)fake_config->lid;
	if (!fake_config->no_gid || !line->odd) {
		fake_right_gid(&line->gid);
		line->gid.raw[15] = (uint8_t)(10 + n_lines);
	}
	LIST_INSERT_HEAD(&all_lines, line, next);
	return line;
}

struct fake_line *fake_find_line(uint32_t qp_num)
{
	struct fake_line *line = LIST_FIRST(&all_lines);

	while (line && (line->qp_num != qp_num || !line->peer))
		line = LIST_NEXT(line, next);
	return line;
}

void fake_check_told(const struct fake_line *line)
{
	if (line->has_told && line->id && line->sq_psn != line->told_psn)
		fake_complain("the PSN that was told is not the QP's");
	if (line->has_told && line->id && line->id->pub.qp &&
	    line->id->pub.qp->qp_num != line->told_qp_num)
		fake_complain("the QP number that was told is not the QP's");
}

/* Nothing more comes from the peer over TCP. */
void fake_hang_up(struct fake_line *line)
{
	if (line->peer_fd >= 0)
		__real_close(line->peer_fd);
	line->peer_fd = -1;
}

static void write_to_program(const struct fake_line *line, const char *text, size_t size)
{
	if (line->peer_fd >= 0 && !fake_report->stopped &&
	    __real_send(line->peer_fd, text, size, MSG_NOSIGNAL) < 0)
		fake_complain("the peer cannot write to the program");
}

/* `text` with its zero byte, or what config has instead. */
static void tell(struct fake_line *line, const char *text, const char *instead, bool nothing)
{
	if (line->odd && instead)
		text = instead;
	if (!line->odd || !nothing)
		write_to_program(line, text, strlen(text) + 1);
	if (line->odd && (instead || nothing || fake_config->hurries) && fake_config->hangs_up)
		fake_hang_up(line);
}

void fake_tell_line(struct fake_line *line)
{
	const char *hex = fake_config->capitals ? "%02X" : "%02x";
	char text[LINE_SIZE];
	int i, length;

	length = snprintf(text, sizeof(text),
			  fake_config->capitals ? "%04X:%06X:%06X:" : "%04x:%06x:%06x:", line->lid,
			  line->qp_num, line->psn);
	for (i = 0; i < 16; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, hex,
				   line->gid.raw[i]);
	tell(line, text, fake_config->tells, fake_config->untold);
}

static bool take_line(struct fake_line *line, const char *text, size_t size)
{
	char digits[3];
	union ibv_gid gid;
	unsigned int lid, i;

	if (size != LINE_SIZE || text[size - 1] || strlen(text) != LINE_SIZE - 1 ||
	    sscanf(text, "%4x:%6x:%6x:", &lid, &line->told_qp_num, &line->told_psn) != 3)
		return false;
	line->has_told = true;
	fake_check_told(line);
	fake_right_gid(&gid);
	for (i = 0; i < sizeof(gid.raw); i++) {
		snprintf(digits, sizeof(digits), "%02x", gid.raw[i]);
		if (strncmp(text + 19 + (size_t)2 * i, digits, 2) != 0)
			return false;
	}
	return lid == fake_right_port()->lid;
}

static bool is_ready(const struct fake_line *line)
{
	return line->id && line->id->object.alive && line->id->pub.qp &&
	       line->id->pub.qp->state == IBV_QPS_RTS;
}

/* The program is the server: its line says that it is ready, and the client is ready, too. */
void fake_client_hears(struct fake_line *line, const char *text, size_t size)
{
	if (line->has_told || !take_line(line, text, size)) {
		fake_complain("the server says no line, or too much");
		return;
	}
	if (!is_ready(line))
		fake_complain("the server answers before its QP can receive");
	tell(line, "done", fake_config->confirms, fake_config->unconfirmed);
	if (line->odd && fake_config->closes_tcp)
		fake_hang_up(line);
	if (is_ready(line))
		fake_put_begin(line->peer);
}

void fake_server_hears(struct fake_line *line, const char *text, size_t size)
{
	if (!line->has_told) {
		if (!take_line(line, text, size))
			fake_complain("the client says no line");
		line->peer = fake_new_server();
		fake_tell_line(line);
		return;
	}
	if (line->done || size != 5 || memcmp(text, "done", 5))
		fake_complain("the client does not say done, once");
	if (!is_ready(line))
		fake_complain("the client is done before its QP can receive");
	line->done = true;
	if (fake_config->closes_tcp)
		fake_hang_up(line);
}

void fake_may_close_tcp(const struct fake_peer *peer)
{
	if (fake_config->closes_after && peer->received == fake_config->closes_after)
		fake_hang_up(peer->id->line);
}
