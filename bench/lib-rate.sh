# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# What waiting costs: the CPU that client and server use when there are few messages.

measure_rate() {
	local program
	for program in ping-sr-2 ping-sr-3 ping-sr-4; do
		run_pair "$program" "" "--rate $rate -D $seconds" || continue
		sample rate "$program" "$(jq -L bench -c -s 'include "figures";
			def cpu: .user_seconds + .system_seconds;
			def percent: ratio((.process_cpu | cpu) * 100; .seconds);
			.[0] as $client | .[1] as $server |
			{ messages_per_second: $client.messages_per_second, round_trip_us: $client.round_trip_us.p50,
			  client_percent: ($client | percent), server_percent: ($server | percent),
			  process_percent: ([$client, $server | percent] | if all then add else null end),
			  machine_percent: ratio(($client.machine_cpu | cpu) * 100; $client.seconds) }' \
			"$scratch/client.out" "$scratch/server.out")"
	done
}

# Percentages of different rates say nothing of each other: a rate that was not kept is no verdict.
# shellcheck disable=SC2016   # $ is jq's
judge_rate='. as $rows | map(
	(.link as $link | $rows[] | select(.link == $link and .program == "ping-sr-2") | .median) as $base |
	(.median.messages_per_second >= 0.95 * $rate and $base.messages_per_second >= 0.95 * $rate) as $kept |
	if .program == "ping-sr-2" then . else . + {
		peer: "ping-sr-2", limit: 0.1, ratio: ratio(.median.process_percent; $base.process_percent) } |
		.verdict = if $kept then verdict([["CPU", .ratio]]; .limit) else "the rate was not kept" end
	end)'

compare_rate() {
	local round
	for ((round = 1; round <= rounds; round++)); do
		say "rate: round $round of $rounds"
		for_each_link measure_rate
	done
	record rate "$judge_rate"
	echo "CPU at $rate messages/s offered, in % of one CPU. Medians of $rounds rounds of $seconds s."
	table rate '%-6s %-14s %10s %10s %8s %8s %8s %8s %6s %6s  %s\n' \
		link program messages/s "round trip" client server both machine x target verdict \
		'.link, .program, (.median.messages_per_second | fixed(0)), (.median.round_trip_us | fixed(2)),
		(.median.client_percent | fixed(1)), (.median.server_percent | fixed(1)), (.median.process_percent | fixed(1)),
		(.median.machine_percent | fixed(1)), (.ratio | fixed(3)), (.limit | fixed(2)), .verdict // "(peer)"'
}
