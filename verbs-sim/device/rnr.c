/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The codes of min_rnr_timer, from the table "Encoding for RNR NAK Timer Field" of the InfiniBand
 * specification. See rnr.h.
 */
#include "verbs-sim/device/device.h"
#include "verbs-sim/device/rnr.h"

#define NS_PER_UNIT 10000 /* the table counts in hundredths of a millisecond */

uint64_t sim_rnr_ns(uint8_t code)
{
	static const uint32_t units[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return (uint64_t)units[code & 31] * NS_PER_UNIT;
}

/* Some microseconds, and now and then much more: what is late in one run is early in another. */
uint64_t sim_latency_ns(uint64_t length)
{
	uint64_t late_ns = sim_random(32) ? 0 : sim_random(300000);

	return 500 + length / 4 + sim_random(2000) + late_ns;
}
