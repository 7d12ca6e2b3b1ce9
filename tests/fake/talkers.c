/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the other side of talk-rdma-0: it writes lines into the program's slot, and
 * reads those that the program writes into its own. Contract: slot, mark, sum and counts are those
 * of docs/protocol.md. Sometimes a mark arrives before its text, and a line is read only after
 * several polls.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/state.h"

#define TEXT  240 /* the maximum length of a line; after it come the mark, */
#define MARK  240
#define SEEN  248 /* and the number of the line that was read last */
#define SLOT  256
#define WORD  sizeof(uint64_t)
#define LINES 1000 /* lines that can be typed */
#define LATE  2    /* polls after which a line is read */

#define SLOT_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* ---- the text of the lines ---- */

/* Lengths: empty, the size of a slot, one byte more, and short. Any bytes except a line feed. */
static size_t line_of(char who, uint64_t line, char *text)
{
	static const size_t lengths[] = { 9, 0, TEXT, TEXT + 1, 1, 17 };
	size_t i, length = lengths[line % 6];

	for (i = 0; i < length; i++) {
		text[i] = (char)(line * 7 + i * 31 + (unsigned char)who);
		text[i] = (char)(text[i] == '\n' ? ' ' : text[i]);
	}
	return length;
}

size_t fake_typed(uint64_t lines, char *text, size_t size)
{
	size_t length = 0;
	uint64_t i;

	for (i = 0; i < lines && i < LINES && length + TEXT + 2 <= size; i++) {
		length += line_of('t', i, text + length);
		text[length++] = '\n';
	}
	return length;
}

static struct {
	char text[FAKE_MOST_TYPED];
	size_t length, next;
	bool read;
} typed;

static void read_typed(void)
{
	if (!typed.read)
		typed.length = fake_typed(fake_config->count, typed.text, sizeof(typed.text));
	typed.read = true;
}

/*
 * Checks that this is the next part of the program's text: a line that is too long comes in pieces.
 */
static bool is_next(const uint8_t *text, size_t length)
{
	const char *from = typed.text + typed.next, *end;
	size_t wanted;

	if (typed.next == typed.length)
		return false;
	end = memchr(from, '\n', typed.length - typed.next);
	wanted = (size_t)(end - from);
	typed.next += wanted > TEXT ? TEXT : wanted + 1;
	wanted = wanted > TEXT ? TEXT : wanted;
	return wanted == length && !memcmp(from, text, length);
}

static uint16_t sum_of(const uint8_t *text, size_t length)
{
	uint32_t sum = (uint32_t)length;
	size_t i;

	for (i = 0; i < length; i++)
		sum = sum * 31 + text[i];
	return (uint16_t)(sum ^ sum >> 16);
}

/* ---- the program's lines ---- */

static void hear_line(struct fake_peer *peer)
{
	uint64_t mark;
	size_t length;

	memcpy(&mark, peer->memory + MARK, sizeof(mark));
	mark = be64toh(mark);
	length = mark >> 16 & 0xffff;
	if (mark >> 32 != peer->received + 1 || length > TEXT ||
	    sum_of(peer->memory, length) != (uint16_t)mark) {
		fake_complain("the mark of line %llu is 0x%llx",
			      (unsigned long long)peer->received + 1, (unsigned long long)mark);
		return;
	}
	read_typed();
	/* A line that was on its way to a peer that has failed is lost. */
	if (!is_next(peer->memory, length) &&
	    !(fake_report->struck && is_next(peer->memory, length)))
		fake_complain("line %llu is not what was typed",
			      (unsigned long long)peer->received + 1);
	peer->received++;
	if (!peer->is_client)
		fake_server_may_leave(peer);
	peer->looks = peer->received % 2 ? LATE : 0;
}

/* If it is time, tells the program that the line has been read: then it may write the next one. */
static void take_line(struct fake_peer *peer)
{
	uint64_t seen = htobe64(peer->received);

	if (fake_config->bad_mark || peer->looks++ < LATE ||
	    !memcmp(peer->memory + SEEN, &seen, sizeof(seen)) || fake_has_quit(peer))
		return;
	memcpy(peer->memory + SEEN, &seen, sizeof(seen));
	fake_may_stop_program(peer);
}

static void write_slot(struct fake_peer *peer, const struct fake_wr *wr, const uint8_t *data,
		       uint64_t offset)
{
	uint64_t seen;

	memcpy(&seen, peer->memory + SEEN, sizeof(seen));
	if (be64toh(seen) != peer->received)
		fake_complain("a line is written over one that has not been taken");
	if (offset + wr->length > SEEN)
		fake_complain("it writes to what only the owner of a slot writes");
	if (peer->heard)
		fake_complain("it goes on after it has told its count");
	memcpy(peer->memory + offset, data, wr->length);
	if (offset + wr->length == MARK + WORD)
		hear_line(peer);
	if (peer->looks >= LATE)
		take_line(peer);
}

static void carry_out(struct fake_qp *qp, const struct fake_wr *wr, uint8_t *memory,
		      const uint8_t *data)
{
	struct fake_peer *peer = qp->id->peer;
	uint64_t offset = (uint64_t)(memory - peer->memory);
	uint8_t copy[SLOT];

	if (wr->opcode == IBV_WC_RDMA_WRITE) {
		write_slot(peer, wr, data, offset);
		return;
	}
	memcpy(copy, memory, wr->length);
	if (fake_config->garbles && peer->received == fake_config->garbles)
		copy[MARK - offset] ^= 1;
	fake_scatter(wr, copy, wr->length);
}

/* ---- its own lines ---- */

static bool is_silent(const struct fake_peer *peer)
{
	return fake_config->silent_after && peer->sent >= fake_config->silent_after;
}

/* Adds to what the program has to print. */
static void note_said(const uint8_t *text, size_t length)
{
	size_t room = sizeof(fake_report->said) - 1 - fake_report->said_length;

	if (fake_report->said_length + length + 1 < sizeof(fake_report->said) && length < room) {
		memcpy(fake_report->said + fake_report->said_length, text, length);
		fake_report->said[fake_report->said_length + length] = '\n';
	}
	fake_report->said_length += length + 1;
}

static size_t text_of(const struct fake_peer *peer, uint8_t *text)
{
	char line[TEXT + 2];
	size_t length = line_of('p', peer->sent, line);

	length = length > TEXT ? TEXT : length;
	memcpy(text, line, length);
	return length;
}

/*
 * Writes the text, then the mark; or first the mark, and the text only after the program has polled
 * again.
 */
static void say(struct fake_peer *peer, uint8_t *slot)
{
	bool mark_first = peer->sent % 3 == 2 && fake_config->delivery != FAKE_BY_THREAD;
	uint8_t text[TEXT];
	size_t length = text_of(peer, text);
	uint64_t sum = sum_of(text, length);
	uint64_t told = fake_config->bad_mark ? UINT16_MAX : length;
	uint64_t mark = htobe64((peer->sent + 1) << 32 | told << 16 | sum);

	if (!mark_first || peer->torn)
		memcpy(slot, text, length);
	__atomic_store_n((uint64_t *)(void *)(slot + MARK), mark, __ATOMIC_RELEASE);
	peer->torn = mark_first && !peer->torn;
	if (peer->torn)
		return;
	peer->sent++;
	note_said(text, length);
	if (is_silent(peer))
		fake_raise(peer->id);
}

static void maybe_done(struct fake_peer *peer)
{
	if (!peer->told || !peer->heard)
		return;
	peer->done = true;
	if (peer->is_client)
		fake_client_is_done(peer);
}

/*
 * Writes the next line when the one before has been read; after the last one, the mark that there
 * are no more.
 */
static void go_on(struct fake_peer *peer)
{
	uint8_t *slot = fake_find_in_program(peer, SLOT, SLOT_ACCESS);
	uint64_t seen;

	if (!slot)
		return;
	seen = be64toh(__atomic_load_n((uint64_t *)(void *)(slot + SEEN), __ATOMIC_ACQUIRE));
	if (seen > peer->sent)
		fake_complain("line %llu was taken, and has not been said",
			      (unsigned long long)seen);
	if (seen != peer->sent || is_silent(peer))
		return;
	if (peer->sent < peer->count) {
		say(peer, slot);
		return;
	}
	peer->told = true;
	fake_tell_count(peer, peer->sent + fake_config->one_more);
	maybe_done(peer);
}

void fake_talkers_move(void)
{
	struct fake_peer *peer;

	if (!fake_config->talks)
		return;
	for (peer = fake_first_peer(); peer; peer = LIST_NEXT(peer, all)) {
		if (!fake_may_act(peer))
			continue;
		if (fake_has_quit(peer)) {
			fake_put_leave(peer);
			continue;
		}
		take_line(peer);
		if (!peer->told)
			go_on(peer);
	}
}

/* A line that could not be printed has not been taken: its writer must not believe that. */
void fake_slot_closes(const struct fake_mr *mr)
{
	const uint8_t *slot = mr->pub.addr;
	uint64_t seen;

	if (!fake_config->talks || !fake_config->full_stdout ||
	    !(mr->access & IBV_ACCESS_REMOTE_READ))
		return;
	memcpy(&seen, slot + SEEN, sizeof(seen));
	if (seen)
		fake_complain("a line was taken that could not be printed");
}

/* ---- the count ---- */

static void hear_count(struct fake_peer *peer, uint64_t count)
{
	if (count != peer->received)
		fake_complain("the program tells another count than that of its lines");
	read_typed();
	if (typed.next != typed.length && !fake_report->struck)
		fake_complain("the program tells its count, and has not said all that was typed");
	peer->heard = true;
	maybe_done(peer);
}

const struct fake_wire fake_talk_wire = {
	FAKE_EXCHANGE,
	.hear_count = hear_count,
	.carry_out = carry_out,
};
