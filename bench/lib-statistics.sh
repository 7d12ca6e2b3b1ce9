# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# What the statistics cost: the time that client and agent of a polling stage spend on them for each message, measured
# on its own by statistics_cost.c, beside the round trip of ping-sr-0. Client and agent work in turn, so both count.

cost_program=build/bench/statistics_cost

# Built with the options of the Makefile, unless it is newer than what it is made of.
build_statistics_cost() {
	local source=bench/statistics_cost.c
	[ -f build/libmeasure.a ] || die "build/libmeasure.a is not there: run make first"
	if [ $cost_program -nt $source ] && [ $cost_program -nt build/libmeasure.a ]; then return; fi
	mkdir -p build/bench
	"${CC:-cc}" -std=c11 -O2 -g -Wall -Wextra -I. -D_GNU_SOURCE $source build/libmeasure.a build/libprogram.a -lrdmacm -libverbs -pthread \
		-o $cost_program || die "cannot build $cost_program"
}

measure_statistics() {
	local round_trip
	run_count ping-sr-0 "${long_count[$link/ping-sr-0]-$min_long_count}" || return 0
	round_trip=$(jq .round_trip_us.p50 "$scratch/client.out")
	start client $cost_program "$(jq '.round_trip_us.p50 * 1000 | round' "$scratch/client.out")"
	if ! finish "$pid"; then
		failed "$cost_program" client
		return 0
	fi
	sample statistics ping-sr-0 "$(jq -c --argjson us "$round_trip" \
		'. + { round_trip_us: $us, percent: ((.client_ns + .agent_ns) / $us / 1000 * 100) }' "$scratch/client.out")"
}

judge_statistics='map(. + { limit: 2 } | .verdict = verdict([["cost", .median.percent]]; .limit))'

compare_statistics() {
	local round
	for ((round = 1; round <= rounds; round++)); do
		say "statistics: round $round of $rounds"
		for_each_link measure_statistics
	done
	record statistics "$judge_statistics"
	echo "Time spent on statistics for each message, of a busy-polled round trip. Medians of $rounds rounds."
	table statistics '%-6s %-12s %15s %12s %12s %8s %8s  %s\n' \
		link program "round trip (us)" "client (ns)" "agent (ns)" share target verdict \
		'.link, .program, (.median.round_trip_us | fixed(2)), (.median.client_ns | fixed(1)),
		(.median.agent_ns | fixed(1)), (.median.percent | fixed(2)) + " %", "< \(.limit) %", .verdict'
}
