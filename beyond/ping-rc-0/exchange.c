/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: what the two ends send each other over TCP, in the form of ibv_rc_pingpong: a line of
 * text "LID:QPN:PSN:GID" in hexadecimal, first the client's, then the server's, and then "done" by
 * the client. See bare.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/report.h"
#include "program/stop.h"

/* The texts of the exchange; the final zero byte of each is sent, too. */
#define LINE   "0000:000000:000000:00000000000000000000000000000000"
#define DONE   "done"
#define DIGITS 32 /* hexadecimal digits of the GID */

int our_await_socket(int socket, short events, uint64_t until_ns)
{
	struct pollfd fds[] = {
		{ .fd = socket, .events = events },
		{ .fd = our_stop_fd(our_program_stop()), .events = POLLIN },
	};
	int ready;

	for (;;) {
		ready = poll(fds, 2, our_ms_until(until_ns));
		if (our_stop_requested(our_program_stop()))
			return EINTR;
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return errno;
		if (our_now_ns() >= until_ns)
			return ETIMEDOUT;
	}
}

/* Sends a text in one piece, as the peer expects it. A short text fits into any socket's buffer. */
static int send_text(int socket, const char *text, size_t size)
{
	ssize_t sent = send(socket, text, size, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EPIPE ? ECONNRESET : errno;
	return (size_t)sent == size ? 0 : EIO;
}

/* Reads `size` bytes, and no more: what follows belongs to a later read. */
static int receive_text(int socket, char *text, size_t size, uint64_t until_ns)
{
	size_t got = 0;
	ssize_t n;
	int ret;

	while (got < size) {
		ret = our_await_socket(socket, POLLIN, until_ns);
		if (ret)
			return ret;
		n = recv(socket, text + got, size - got, MSG_DONTWAIT);
		if (!n)
			return ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return errno;
		if (n > 0)
			got += (size_t)n;
	}
	return 0;
}

/*
 * Takes the number with this many hexadecimal digits at **text, and moves *text behind them and their
 * ':'. Returns whether there was one.
 */
static bool take_hex(const char **text, int digits, uint32_t *number)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	char word[9];
	size_t length = (size_t)digits;

	if (strspn(*text, hex) < length)
		return false;
	memcpy(word, *text, length);
	word[length] = '\0';
	sscanf(word, "%" SCNx32, number);
	*text += length;
	if (**text == ':')
		(*text)++;
	return true;
}

static int parse_line(const char *line, struct our_bare_end *end)
{
	const char *text = line;
	uint32_t lid, number;
	int i;

	/* The line must have its ':' where ours has, and no more bytes. */
	if (memchr(line, '\0', sizeof(LINE)) != line + sizeof(LINE) - 1 || line[4] != ':' ||
	    line[11] != ':' || line[18] != ':')
		return EPROTO;
	if (!take_hex(&text, 4, &lid) || !take_hex(&text, 6, &end->qp_num) ||
	    !take_hex(&text, 6, &end->psn))
		return EPROTO;
	end->lid = (uint16_t)lid;
	for (i = 0; i < DIGITS / 2; i++) {
		if (!take_hex(&text, 2, &number))
			return EPROTO;
		end->gid.raw[i] = (uint8_t)number;
	}
	return 0;
}

int our_send_end(struct our_control *control, const struct our_bare_end *end)
{
	char line[sizeof(LINE)];
	int i, length;

	length = snprintf(line, sizeof(line), "%04x:%06x:%06x:", end->lid, end->qp_num, end->psn);
	for (i = 0; i < DIGITS / 2; i++)
		length += snprintf(line + length, sizeof(line) - (size_t)length, "%02x",
				   end->gid.raw[i]);
	return send_text(our_bare_of(control)->socket, line, sizeof(line));
}

int our_receive_end(struct our_control *control, struct our_bare_end *end, uint64_t until_ns)
{
	char line[sizeof(LINE)];
	int ret = receive_text(our_bare_of(control)->socket, line, sizeof(line), until_ns);

	return ret ? ret : parse_line(line, end);
}

int our_send_done(struct our_control *control)
{
	return send_text(our_bare_of(control)->socket, DONE, sizeof(DONE));
}

int our_receive_done(struct our_control *control, uint64_t until_ns)
{
	char word[sizeof(DONE)];
	int ret = receive_text(our_bare_of(control)->socket, word, sizeof(word), until_ns);

	return !ret && memcmp(word, DONE, sizeof(DONE)) ? EPROTO : ret;
}

int our_report_exchange(const struct our_control *control, const char *call, int error)
{
	const char *peer = control->role == OUR_AGENT ? "client" : "server";
	char text[OUR_ADDRESS_TEXT];

	our_address_text((const struct sockaddr *)&control->peer_address, text);
	switch (error) {
	case ECONNRESET:
		return our_report_error(call, error,
					"the %s at %s ended the exchange: its own messages say why",
					peer, text);
	case ETIMEDOUT:
		return our_report_error(call, error, "the %s at %s said nothing of its QP", peer,
					text);
	case EPROTO:
		return our_report_error(
			call, error,
			"the %s at %s did not say LID:QPN:PSN:GID, or done, as this "
			"program and ibv_rc_pingpong do",
			peer, text);
	default:
		return our_report_error(call, error, "from the %s at %s", peer, text);
	}
}
