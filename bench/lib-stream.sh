# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One-way streams: blast-sr-2 beside ib_send_bw, and what each of its three economies is worth.
#
# CPU is measured alike for all, as in lib-round-trip.sh: around a long run, less that around a short one. Processes'
# CPU is what bash(1) says of its children; the machine's has the driver's work in it, too.

declare -A server client long_count # of lib-run.sh and lib-round-trip.sh
stream_sizes=(4096 65536)
stream_programs=(ib_send_bw blast-sr-2 "blast-sr-2 -v")
# What is switched on, from nothing to all: the options of client and server.
parts_programs=(
	"none"
	"chaining"
	"selective signaling"
	"credit batching"
	"all three"
)

define_stream_programs() {       # define_stream_programs SIZE
	local pair="-q -j -a ADDRESS -p PORT"
	local perftest="ib_send_bw -F -R DEVICE -p PORT -s $1 -t $depth -r $depth COUNT"
	local name chain signal batch
	server[ib_send_bw]=$perftest
	client[ib_send_bw]="$perftest ADDRESS"
	server[blast-sr-2]="blast-sr-2/server $pair"
	client[blast-sr-2]="blast-sr-2/client $pair -s $1 -b $depth COUNT"
	server[blast-sr-2 -v]="${server[blast-sr-2]} -v"
	client[blast-sr-2 -v]="${client[blast-sr-2]} -v"
	for name in "${parts_programs[@]}"; do
		chain="--chain 1" signal="--signal-every 1" batch="--credit-batch 1"
		case $name in
		chaining) chain='' ;;
		"selective signaling") signal="--signal-every $(((depth + 3) / 4))" ;;
		"credit batching") batch='' ;;
		"all three") chain='' signal="--signal-every $(((depth + 3) / 4))" batch='' ;;
		esac
		server[$name]="${server[blast-sr-2]} $chain $batch"
		client[$name]="${client[blast-sr-2]} $chain $signal"
	done
}

# Sets children_us to the CPU time of all children that have been waited for.
read_children() {
	times >"$scratch/times"
	children_us=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); us += (t[1] * 60 + t[2]) * 1e6 }
		printf "%d", us }' "$scratch/times")
}

# run_stream PROGRAM COUNT: sets used_ticks and process_us. perftest gets three tries, ours one.
run_stream() {
	local tries=1 before_us count="-c $2" server_count=
	case $1 in ib_send_bw) tries=3 count="-n $2" server_count=$count ;; esac
	read_children; before_us=$children_us
	until run_pair "$1" "$server_count" "$count"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		say "$1 is tried again"
		failures=$((failures - 1))
	done
	read_children; process_us=$((children_us - before_us))
}

# MB/s (10^6) as the sender sees it. perftest's MB are 2^20 bytes.
read_stream_rate() {             # read_stream_rate PROGRAM SIZE
	case $1 in
	ib_send_bw) awk -v size="$2" '$1 == size && NF == 5 { print $4 * 1048576 / 1e6 }' "$scratch/client.out" ;;
	*) jq '.bytes_per_second / 1e6' "$scratch/client.out" ;;
	esac
}

# By a trial, so that a long run takes about $seconds.
choose_stream_count() {          # choose_stream_count PROGRAM SIZE
	local rate
	run_stream "$1" 500 || return 0
	rate=$(read_stream_rate "$1" "$2")
	long_count[$link/$1/$2]=$(awk -v rate="${rate:-0}" -v seconds="$seconds" -v size="$2" \
		'BEGIN { n = int(rate * 1e6 * seconds / size); print (n < 2000) ? 2000 : (n > 1000000) ? 1000000 : n }')
	say "$link: $1, $2 B: ${rate:-?} MB/s, so 500 and ${long_count[$link/$1/$2]} messages"
}

measure_stream() {               # measure_stream COMPARISON PROGRAM SIZE
	local bytes=$3 count=${long_count["$link/$2/$3"]-2000} short_ticks short_us values rate
	run_stream "$2" 500 || return 0
	short_ticks=$used_ticks short_us=$process_us
	run_stream "$2" "$count" || return 0
	rate=$(read_stream_rate "$2" "$3")
	values=$(jq -n -c --argjson rate "${rate:-null}" --argjson gb "$(((count - 500) * bytes))e-9" \
		--argjson machine "$((used_ticks - short_ticks))" --argjson hz "$ticks_per_second" \
		--argjson process "$((process_us - short_us))" \
		'{ mb_per_second: $rate, machine_s_per_gb: ($machine / $hz / $gb), process_s_per_gb: ($process / 1e6 / $gb) }')
	sample "$1" "$3 $2" "$values"
}

for_each_stream() {              # for_each_stream FUNCTION... : FUNCTION... PROGRAM SIZE
	local program size
	for size in "${sizes[@]}"; do
		define_stream_programs "$size"
		for program in "${programs[@]}"; do "$@" "$program" "$size"; done
	done
}

run_streams() {                  # run_streams COMPARISON: all rounds
	local round
	for_each_link for_each_stream choose_stream_count
	for ((round = 1; round <= rounds; round++)); do
		say "$1: round $round of $rounds"
		for_each_link for_each_stream measure_stream "$1"
	done
}

# shellcheck disable=SC2016   # $ is jq's
judge_stream='. as $rows | map(
	(.program | split(" ")[0]) as $bytes | (.program | test("ib_send_bw")) as $is_peer |
	(.program | test("-v$")) as $verifies |
	(.link as $link | $rows[] | select(.link == $link and .program == $bytes + " ib_send_bw") | .median) as $base |
	(if $verifies then 0.5 elif .link == "iWARP" then 1.3 else 1 end) as $limit |
	if $is_peer then . else . + { peer: "ib_send_bw", limit: $limit,
		ratio: { rate: ratio(.median.mb_per_second; $base.mb_per_second),
			machine: ratio(.median.machine_s_per_gb; $base.machine_s_per_gb),
			process: ratio(.median.process_s_per_gb; $base.process_s_per_gb) } } |
		.verdict = ([ if .ratio.rate == null then "not measured" elif .ratio.rate < .limit then "missed: rate" else empty end,
			if $verifies then empty elif .ratio.machine == null then "not measured" elif .ratio.machine > 1 then "missed: CPU" else empty end ]
			| if length == 0 then "reached" else join("; ") end)
	end)'

compare_stream() {
	local sizes=("${stream_sizes[@]}") programs=("${stream_programs[@]}")
	run_streams stream
	record stream "$judge_stream"
	echo "Streams, $depth messages under way: MB/s and CPU seconds a GB, of both ends. x: times ib_send_bw's."
	echo "Medians of $rounds rounds of $seconds s. Targets: the rate's; the machine's CPU is to be at most 1."
	table stream '%-6s %7s %-13s %8s %6s %6s %9s %6s %9s %6s %6s  %s\n' \
		link size program MB/s spread x machine x processes x target verdict \
		'.link, (.program | split(" ") | .[0], (.[1:] | join(" "))), (.median.mb_per_second | fixed(1)),
		(.samples | map(.mb_per_second) | ratio(max; min) | fixed(2)), (.ratio.rate | fixed(2)),
		(.median.machine_s_per_gb | fixed(1)), (.ratio.machine | fixed(2)),
		(.median.process_s_per_gb | fixed(1)), (.ratio.process | fixed(2)), (.limit | fixed(1)), .verdict // "(peer)"'
}

# shellcheck disable=SC2016   # $ is jq's
judge_parts='. as $rows | map(
	(.program | split(" ")[0]) as $bytes |
	(.link as $link | $rows[] | select(.link == $link and .program == $bytes + " none") | .median) as $base |
	. + { ratio: { rate: ratio(.median.mb_per_second; $base.mb_per_second),
		machine: ratio(.median.machine_s_per_gb; $base.machine_s_per_gb) } })'

compare_parts() {
	local sizes=(64 4096) programs=("${parts_programs[@]}")
	run_streams parts
	record parts "$judge_parts"
	echo "blast-sr-2, $depth messages under way, with one of its economies, with none, with all. x: times none's."
	echo "Medians of $rounds rounds of $seconds s; CPU seconds of the machine a GB."
	table parts '%-6s %7s %-20s %8s %6s %9s %6s\n' link size with MB/s x machine x \
		'.link, (.program | split(" ") | .[0], (.[1:] | join(" "))), (.median.mb_per_second | fixed(2)), (.ratio.rate | fixed(2)),
		(.median.machine_s_per_gb | fixed(1)), (.ratio.machine | fixed(2))'
}
