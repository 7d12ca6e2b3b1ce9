/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of the codes that tools/devices shows as numbers, of which soft devices have
 * only one each. Contract: the values are those of PortInfo in the InfiniBand specification.
 */
#include "devices/devices.h"
#include "tests/unit/unit.h"

static double rate(uint8_t width, uint8_t speed)
{
	const struct ibv_port_attr attr = { .active_width = width, .active_speed = speed };

	return devices_rate_gbps(&attr);
}

UNIT_TEST(a_rate_is_that_of_its_lanes_together)
{
	static const struct {
		uint8_t code;
		double is;
	} lanes[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 }, { 3, 0 }, { 17, 0 } },
	  gbps[] = { { 1, 2.5 }, { 2, 5 },   { 4, 10 },    { 8, 10 }, { 16, 14 },
		     { 32, 25 }, { 64, 50 }, { 128, 100 }, { 0, 0 } };
	size_t i, j;

	for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		for (j = 0; j < sizeof(gbps) / sizeof(gbps[0]); j++)
			ck_assert_double_eq(rate(lanes[i].code, gbps[j].code),
					    lanes[i].is * gbps[j].is);
	}
}

UNIT_TEST(an_mtu_is_that_of_its_code)
{
	static const unsigned int bytes[] = { 0, 256, 512, 1024, 2048, 4096, 0 };
	unsigned int code;

	for (code = 0; code < sizeof(bytes) / sizeof(bytes[0]); code++)
		ck_assert_uint_eq(devices_mtu((enum ibv_mtu)code), bytes[code]);
}
