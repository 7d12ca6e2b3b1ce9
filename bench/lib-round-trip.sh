# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Round trip and machine CPU a message: each stage beside the mode of ib_send_lat that waits as it does.
#
# CPU is measured alike for all: the machine's busy time around a long run, less that around a short one, divided by
# the messages that the long one had more. What setting up, connecting and tearing down cost is gone from that.

short_count=200
min_long_count=1000
max_long_count=1000000
round_trip_programs=(ib_send_lat ping-sr-0 ping-sr-1 ping-sr-2 "ib_send_lat -e" ping-sr-3 ping-sr-4)
declare -A long_count=()         # link/program -> messages

count_option() {                 # count_option PROGRAM COUNT
	case $1 in
	ib_send_lat*) REPLY="-n $2" ;;
	*) REPLY="-c $2" ;;
	esac
}

# run_count PROGRAM COUNT. On a busy machine perftest may fail to connect (and crash on it): it gets three tries, ours
# one.
run_count() {
	local tries=1
	case $1 in ib_send_lat*) tries=3 ;; esac
	count_option "$1" "$2"
	until run_pair "$1" "$REPLY" "$REPLY"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		say "$1 is tried again"
		failures=$((failures - 1))
	done
}

# What the pair that just ran has measured. ib_send_lat reports half of the time from one send to the next (t_typical
# is the median); our agent measures the whole of the same, and our client from the send to the answer.
read_round_trips() {
	case $1 in
	ib_send_lat*)
		awk -v size="$size" '$1 == size && NF == 9 { printf "{ \"round_trip_us\": %f, \"cycle_us\": %f,", 2 * $5, 2 * $5
			printf "\"mean_us\": %f, \"p99_us\": %f }", 2 * $6, 2 * $8 }' "$scratch/client.out"
		;;
	*)
		jq -c -s '{ round_trip_us: .[0].round_trip_us.p50, cycle_us: .[1].round_trip_us.p50,
			mean_us: (.[0].seconds / .[0].count * 1e6), p99_us: .[0].round_trip_us.p99 }' \
			"$scratch/client.out" "$scratch/server.out"
		;;
	esac
}

# By a trial, so that a long run takes about $seconds.
choose_long_count() {
	local program=$1 mean
	run_count "$program" $short_count || return 0
	mean=$(read_round_trips "$program" | jq '.mean_us | ceil') || mean=
	long_count[$link/$program]=$(awk -v mean="${mean:-0}" -v seconds="$seconds" -v least=$min_long_count \
		-v most=$max_long_count 'BEGIN { n = mean ? int(seconds * 1e6 / mean) : least
			print (n < least) ? least : (n > most) ? most : n }')
	say "$link: $program: ${mean:-?} us a message, so $short_count and ${long_count[$link/$program]} messages"
}

measure_round_trip() {
	local program=$1 count=${long_count[$link/$1]-$min_long_count} short_ticks short_us values
	run_count "$program" $short_count || return 0
	short_ticks=$used_ticks short_us=$used_us
	run_count "$program" "$count" || return 0
	values=$(read_round_trips "$program" | jq -c --argjson more $((count - short_count)) \
		--argjson ticks $((used_ticks - short_ticks)) --argjson hz "$ticks_per_second" \
		--argjson us $((used_us - short_us)) '. + { cpu_us: ($ticks / $hz * 1e6 / $more),
		cpu_seconds: ($ticks / $hz), wall_us: ($us / $more), messages: $more }') || values=
	sample round-trip "$program" "$values"
}

for_each_program() {
	local program
	for program in "${round_trip_programs[@]}"; do "$1" "$program"; done
}

# Adds peer, ratios to it, limit and verdict. The limits are those for the lab's drivers; any other device has the one
# that asks for being as good as the peer.
# shellcheck disable=SC2016   # $ is jq's
judge_round_trip='. as $rows | map(
	(if .program | test("ping-sr-[34]") then "ib_send_lat -e" else "ib_send_lat" end) as $peer |
	(.link as $link | $rows[] | select(.link == $link and .program == $peer) | .median) as $base |
	(if $peer == "ib_send_lat -e" and .link == "RoCE" then 0.85 else 1.05 end) as $limit |
	if .program | test("^ib_send_lat") then . else . + {
		peer: $peer, limit: $limit,
		ratio: (.median | { round_trip: ratio(.round_trip_us; $base.round_trip_us),
			cycle: ratio(.cycle_us; $base.cycle_us),
			cpu: (if [.cpu_seconds, $base.cpu_seconds] | min >= 1 then ratio(.cpu_us; $base.cpu_us) else null end) }) } |
		.verdict = verdict([["round trip", .ratio.round_trip], ["cycle", .ratio.cycle], ["CPU", .ratio.cpu]]; $limit)
	end)'

compare_round_trip() {
	local round
	for_each_link for_each_program choose_long_count
	for ((round = 1; round <= rounds; round++)); do
		say "round-trip: round $round of $rounds"
		for_each_link for_each_program measure_round_trip
	done
	record round-trip "$judge_round_trip"
	echo "Round trip of $size B and machine CPU a message (us); x: times its peer's. Medians of $rounds rounds."
	echo "spread: of the rounds, longest by shortest. cycle: from one message to the next, which is what ib_send_lat"
	echo "measures. ~: too few CPU ticks to trust."
	table round-trip '%-6s %-14s %10s %6s %6s %10s %6s %10s %6s %6s  %s\n' \
		link program "round trip" spread x cycle x CPU x target verdict \
		'.link, .program, (.median.round_trip_us | fixed(2)),
		(.samples | map(.round_trip_us) | ratio(max; min) | fixed(2)), (.ratio.round_trip | fixed(3)),
		(.median.cycle_us | fixed(2)), (.ratio.cycle | fixed(3)),
		(if .median.cpu_seconds < 1 then "~" else "" end) + (.median.cpu_us | fixed(2)), (.ratio.cpu | fixed(3)),
		(.limit | fixed(2)), .verdict // "(peer)"'
}
