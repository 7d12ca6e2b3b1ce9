/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: private data of peers of other versions, cut short, or random; and the
 * bytes of a refusal. Contract: the program does with each what docs/protocol.md requires. Only these rows
 * send what a client of this suite does not.
 */
#include "tests/fake/lines.h"

#define CLIENT_SAYS(hex_, iwarp_) .config = { .extension = (hex_), .iwarp = (iwarp_) }
#define NO_SENSE                                                   \
	.who = SERVER | TWO_SIDED | RDMA | REFUSING, .refused = 1, \
	.said = "client refused: its private data (", .words = { ADDRESS, "-q" }
#define SERVED .who = SERVER | TWO_SIDED | RDMA | REFUSING, .words = { ADDRESS, "-q" }
#define SERVER_SAYS(hex_, iwarp_)                    \
	.who = CLIENT | TWO_SIDED | RDMA | REFUSING, \
	.config = { .refusal = (hex_), .iwarp = (iwarp_) }

const struct line private_data[] = {
	{ .what = "serves a client of a higher version, padded",
	  CLIENT_SAYS("4f555231 0002 0028 0000000000000001", false),
	  SERVED },
	{ .what = "serves a client of a higher version",
	  CLIENT_SAYS("4f555231 0002 0028 0000000000000001", true),
	  SERVED },
	{ .what = "refuses a client with another magic",
	  CLIENT_SAYS("4f555232 0001 0020", false),
	  NO_SENSE },
	{ .what = "refuses a client that says more than its length",
	  CLIENT_SAYS("4f555231 0001 0020 0000000000000001", true),
	  NO_SENSE },
	{ .what = "refuses a client whose extension is cut short",
	  .config = { .cut_short = true, .cut_at = 31, .iwarp = true },
	  NO_SENSE },
	{ .what = "refuses a client that says nothing",
	  .config = { .cut_short = true, .iwarp = true },
	  NO_SENSE },
	{ .what = "takes what is missing for zeros where the transport pads",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING,
	  .config = { .cut_short = true },
	  .refused = 2,
	  .limit = 1000000000000,
	  .said = "client refused: it wants to send 0 messages",
	  .words = { ADDRESS, "-q" } },
	{ .what = "tells a client the most messages it may send",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING | COUNTED,
	  .said = "client refused",
	  .refused = 2,
	  .limit = 19,
	  .words = { ADDRESS, "-q", "--max-count", "19" } },
	{ .what = "tells a client the longest message it may send",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING | SIZED,
	  .config = { .iwarp = true },
	  .said = "client refused",
	  .refused = 3,
	  .limit = 199,
	  .words = { ADDRESS, "-q", "--max-size", "199" } },
	{ .what = "tells a client the most buffers it may have",
	  .who = SERVER | BLAST,
	  .said = "client refused",
	  .refused = 4,
	  .limit = 7,
	  .words = { ADDRESS, "-q", "--max-buffers", "7" } },
	{ .what = "says with what limit it was refused, in padded data",
	  SERVER_SAYS("4f555231 0001 0003 0000000000000100", false),
	  .said = "refused us: it takes messages of 1 to 256 bytes (-s)",
	  .status = 1 },
	{ .what = "says with what limit it was refused",
	  SERVER_SAYS("4f555231 0001 0002 00000000000003e8", true),
	  .said = "refused us: it takes 1 to 1000 messages (-c)",
	  .status = 1 },
	{ .what = "says that it was refused for a reason that is not known yet",
	  SERVER_SAYS("4f555231 0001 00ff 0000000000000000", true),
	  .said = "refused us: for a reason unknown here (255)",
	  .status = 1 },
	{ .what = "believes no reason of another version",
	  SERVER_SAYS("4f555231 0002 0003 0000000000000100", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "believes no reason with another magic",
	  SERVER_SAYS("4f555232 0001 0003 0000000000000100", false),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "believes no reason that is cut short",
	  SERVER_SAYS("4f555231 0001 0003 00000000000001", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "is refused by who has no private data",
	  SERVER_SAYS("", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "does not mind what a server says when it accepts",
	  .who = CLIENT | TWO_SIDED | RDMA,
	  .config = { .accept_data = 196 } },
	{ .what = "does not mind what a server says when it accepts",
	  .who = CLIENT | TWO_SIDED | RDMA,
	  .config = { .accept_data = 1, .iwarp = true } },
	{ 0 },
};
