# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/sanitize, where the RDMA devices are: the scenarios, and the reports of the tools.
# shellcheck disable=SC2154 # top, kind and stages: set by tests/sanitize; limit, scratch: by tap.sh
# shellcheck source=tests/support/tap.sh
. tests/support/tap.sh
# shellcheck source=tests/support/lasting.sh
. tests/support/lasting.sh
limit=300
# With -T valgrind starts three times: the program, verbs-trace, and the program again.
# shellcheck disable=SC2034 # await reads it
[ "$kind" != memcheck ] || patience=150

# watched PROGRAM ARGUMENT...: execute that program of the copy, under the tool.
watched() {
	local log=$scratch/report
	case $kind in
	thread)
		export TSAN_OPTIONS="log_path=$log suppressions=$top/tests/sanitize-thread.supp"
		;;
	address)
		export ASAN_OPTIONS="log_path=$log detect_leaks=1"
		export UBSAN_OPTIONS="log_path=$log print_stacktrace=1"
		;;
	memcheck)
		# With -T the program becomes verbs-trace, and that becomes the program again.
		set -- valgrind -q --trace-children=yes --leak-check=full --show-leak-kinds=definite,possible \
			--errors-for-leak-kinds=definite,possible --log-file="$log.%p" \
			--suppressions="$top/tests/sanitize-memcheck.supp" "$@"
		;;
	esac
	exec timeout -s KILL $limit "$@"
}

# start NAME PROGRAM ARGUMENT...: start one of the copy's programs in the background.
start() {
	(watched "build/sanitize/$kind/$stage/$2" -a "$address" -p $port "${@:3}") \
		>"$scratch/$1" 2>&1 &
	pid[$1]=$!
	started+=("$!")
	[ "$2" = client ] || server=$!
}

listening() {
	grep -q 'listening on' "$scratch/server" || ! kill -0 "$server" 2>/dev/null
}

# scene WHAT SERVER-ARGUMENT...: begin a scenario, and start its server.
scene() {
	what=$1 status=0
	port=$((port + 1))
	rm -f "$scratch"/*
	start server server "${@:2}"
	await listening || status=1
}

# strike SIGNAL NAME: send the signal to the program itself, not to timeout(1).
strike() {
	kill -s "$1" "$(child "${pid[$2]}")" || status=1
}

ends() { # NAME STATUS
	ends_with "$2" "${pid[$1]}" 2>/dev/null || status=1
}

end_scene() {
	local reports
	reports=$(find "$scratch" -name 'report*' -size +0 | wc -l)
	[ "$reports" = 0 ] || status=1
	sed -i -E '/ t[0-9]+ (ibv|rdma)_/d' "$scratch"/[a-z]*
	[ "$status" = 0 ] || cat "$scratch"/report* "$scratch"/[a-z]* 2>/dev/null | head -n 150 >&2
	check "$status" "$kind:$transport $stage: $what: $reports reports" /dev/null
}

two_runs() {
	scene "two clients at once" -n 2 -c 200
	start one client -v -c 200
	start two client -v -c 200 -j
	ends one 0
	ends two 0
	ends server 0
	end_scene
}

# struck SIGNAL VICTIM STATUS SURVIVOR STATUS: send the signal to one of the two during a run. The
# other side of ping-sr-0 and 1 notices by --timeout.
struck() {
	scene "SIG$1 to the $2" -c 1000000000 --timeout 3
	start client client -c 1000000000 -T --timeout 3
	await in_mid_run client || status=1
	strike "$1" "$2"
	ends "$2" "$3"
	ends "$4" "$5"
	end_scene
}

# What a client does is no failure of its server: docs/reliability.md, "Exit status".
watch_stage() {
	two_runs
	struck KILL client 137 server 0
	struck KILL server 137 client 1
	struck INT client 0 server 0
	struck TERM server 0 client 1
}

watch_transport() {
	local transport=$1 address=$2 number stage what status
	local -A pid=()
	for number in $stages; do
		stage=ping-sr-$number
		[ "$number" != blast ] || stage=blast-sr-2
		watch_stage
	done
}

watch_all() {
	for_each_transport watch_transport
	end_of_tests
}
