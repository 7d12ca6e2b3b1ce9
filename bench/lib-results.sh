# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Samples in, tables and JSON out. A sample is a line of JSON in $scratch/COMPARISON: link, program, and values, an
# object of numbers. The arithmetic is in figures.jq.

# sample COMPARISON PROGRAM VALUES
sample() {
	if ! jq -c -n --arg link "$link" --arg program "$2" --argjson values "$3" \
		'{ link: $link, program: $program, values: $values }' >>"$scratch/$1" 2>/dev/null; then
		failed "$2 on $link: its output was not understood" client server
	fi
}

describe_machine() {
	local clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
	jq -n -c --arg kernel "$(uname -r)" --arg processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
		--argjson cpus "$(nproc)" --arg clock "$(cat $clock 2>/dev/null || :)" \
		'{ kernel: $kernel, processor: $processor, cpus: $cpus, clocksource: $clock }'
}

# record COMPARISON FILTER: makes rows of the samples and lets FILTER add to them; the result, one line, goes into
# $scratch/COMPARISON.json and is appended to build/bench/COMPARISON.json.
record() {
	local comparison=$1 filter=$2
	touch "$scratch/$comparison"
	jq -L bench -c -s --arg comparison "$comparison" --arg date "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
		--argjson machine "$(describe_machine)" --argjson rounds "$rounds" --argjson size "$size" \
		--argjson seconds "$seconds" --argjson rate "$rate" --argjson clients "$clients" --argjson depth "$depth" \
		"include \"figures\"; rows | $filter | "'{ comparison: $comparison, date: $date, machine: $machine,
		options: { rounds: $rounds, size: $size, seconds: $seconds, rate: $rate, clients: $clients, depth: $depth }, rows: . }' \
		"$scratch/$comparison" >"$scratch/$comparison.json" || die "cannot evaluate the samples of $comparison"
	mkdir -p build/bench
	cat "$scratch/$comparison.json" >>"build/bench/$comparison.json"
}

# table COMPARISON FORMAT HEADING... FILTER: FORMAT is printf's, for the headings and for the arrays that FILTER makes
# of each row.
table() {
	local comparison=$1 format=$2 filter=${*: -1} fields
	shift 2
	# shellcheck disable=SC2059   # the format is ours
	printf "$format" "${@:1:$#-1}"
	while IFS=$'\t' read -r -a fields; do
		# shellcheck disable=SC2059
		printf "$format" "${fields[@]}"
	done < <(jq -L bench -r "include \"figures\"; .rows[] | [$filter] | @tsv" "$scratch/$comparison.json")
	echo
}
