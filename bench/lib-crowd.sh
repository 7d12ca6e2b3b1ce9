# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Many clients at once: whether the server of ping-sr-4 serves a crowd as fast as it serves one.
#
# The clients are started first and wait for the server: so the starting of their programs is not in the figures, and
# they begin as near to each other as they can.

# client_is_up PID: the client that timeout(1) started has opened the device.
client_is_up() {
	local child='' fd device
	read -r child 2>/dev/null </proc/"$1"/task/"$1"/children || : # no line feed at its end
	[ -n "$child" ] || return 1
	for fd in /proc/"${child%% *}"/fd/*; do
		for device in /dev/infiniband/uverbs*; do
			if [ "$fd" -ef "$device" ]; then return 0; fi
		done
	done 2>/dev/null
	return 1
}

start_clients() {                # start_clients N: sets client_pids
	local n tries one
	client_pids=()
	command_of "${client[ping-sr-4]}" "-D $crowd_seconds -w 100"
	for ((n = 1; n <= $1; n++)); do
		start "client$n" "${command[@]}"
		client_pids+=("$pid")
	done
	for one in "${client_pids[@]}"; do
		for ((tries = 0; tries < 200; tries++)); do
			if client_is_up "$one" || ! kill -0 "$one" 2>/dev/null; then break; fi
			sleep 0.1
		done
	done
}

# finish_clients: waits for all, notes for each in client_ended when it ended; false if one failed.
finish_clients() {
	local ended one status=0
	local -A left=()
	client_ended=()
	for one in "${client_pids[@]}"; do left[$one]=1; done
	while [ ${#left[@]} -gt 0 ]; do
		wait -n -p ended "${!left[@]}" || status=1
		read_clock
		client_ended[ended]=$now_us
		unset "running[$ended]" "left[$ended]"
	done
	return $status
}

# The messages of all, warm-up and all, over the time from the first's first message to the last's last: that cannot
# flatter a crowd whose members were not all there all the time. Beside it the sum of what each has seen, which can.
# A client that has never left its warm-up has not counted its messages: then there is no figure.
crowd_values() {
	local n=0 one
	for one in "${client_pids[@]}"; do
		n=$((n + 1))
		jq -c --argjson ended "${client_ended[$one]}" '{ ended: ($ended / 1e6), seconds, count, messages_per_second,
			warm_up, p50: .round_trip_us.p50, p99: .round_trip_us.p99 }' "$scratch/client$n.out"
	done | jq -c -s -L bench --argjson seconds "$crowd_seconds" 'include "figures";
		((map(.ended) | max - min) + $seconds) as $span |
		if any(.count == 0) then error("a client has not left its warm-up: give more --seconds") else . end |
		{ messages_per_second: ((map(.count + .warm_up) | add) / $span), sum_of_rates: (map(.messages_per_second) | add),
		  span_seconds: $span, slowest: (map(.messages_per_second) | min), fastest: (map(.messages_per_second) | max),
		  round_trip_us: (map(.p50) | median) }'
}

run_crowd() {                    # run_crowd N
	local status=0
	take_port
	start_clients "$1"
	command_of "${server[ping-sr-4]}" "-n $1"
	start server "${command[@]}"
	server_pid=$pid
	finish_clients || status=1
	[ $status = 0 ] || end_all
	[ $status != 0 ] || finish "$server_pid" || status=1
	if [ $status != 0 ]; then
		failed "$1 clients of ping-sr-4 on $link" client1 "client$1" server
		return 0
	fi
	sample crowd "$(printf '%3d clients' "$1")" "$(crowd_values)"
}

# shellcheck disable=SC2016   # $ is jq's
judge_crowd='. as $rows | map(
	(.link as $link | $rows[] | select(.link == $link and .program == "  1 clients") | .median) as $base |
	if .program == "  1 clients" then . else . + {
		peer: "1 client", limit: 1, ratio: ratio(.median.messages_per_second; $base.messages_per_second) } |
		.verdict = if .ratio == null then "not measured" elif .ratio >= .limit then "reached" else "missed" end
	end)'

compare_crowd() {
	local round crowd_seconds=$((4 * seconds)) # so that each of many has its share
	for ((round = 1; round <= rounds; round++)); do
		say "crowd: round $round of $rounds"
		for_each_link run_crowd 1
		for_each_link run_crowd "$clients"
	done
	record crowd "$judge_crowd"
	echo "Clients of one ping-sr-4/server: messages/s of all together. Medians of $rounds rounds of $crowd_seconds s."
	table crowd '%-6s %-12s %10s %8s %12s %9s %9s %11s %7s  %s\n' \
		link clients messages/s x "sum of rates" slowest fastest "round trip" target verdict \
		'.link, .program, (.median.messages_per_second | fixed(0)), (.ratio | fixed(3)),
		(.median.sum_of_rates | fixed(0)), (.median.slowest | fixed(1)), (.median.fastest | fixed(1)),
		(.median.round_trip_us | fixed(1)), if .limit then ">= \(.limit)" else "-" end, .verdict // "(peer)"'
}
