# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/soak: the rounds, and the checks after them. Uses the options of tests/soak,
# tests/support/tap.sh and lasting.sh.
# shellcheck disable=SC2154 # minutes, rounds, clients, stages: set by tests/soak

# How much the memory may grow after the first clients: malloc(3) keeps their buffers of many sizes.
grown_allowance=1024 # KiB

# complain TEXT: report a failure.
complain() {
	echo "round $round: $*" | tee -a "$scratch/complaints" >&2
}

# random N: sets random to a number from 0 to N - 1.
random() {
	random=$((RANDOM % $1))
}

# start_slot SLOT: start a client with a random size and count.
start_slot() {
	local sizes=(64 1000 4k 64k) counts=(1000000000 1000000000 50) size
	random 4
	size=${sizes[random]}
	random 3
	count[$1]=${counts[random]}
	timeout -s KILL "$limit" "$stage/client" -a "$address" -p "$port" -s "$size" -c "${count[$1]}" \
		-v >"$scratch/slot$1" 2>&1 &
	slot[$1]=$!
	started+=("$!")
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

has_child_or_ended() {
	[ -n "$(child "$1")" ] || ended "$1"
}

# must_end SLOT STATUS...: report a failure unless it ends with one of these exit statuses.
must_end() {
	local status=0
	{ await ended "${slot[$1]}"; } 2>/dev/null || complain "this client does not end:"
	kill -KILL "$(child "${slot[$1]}")" 2>/dev/null || :
	wait "${slot[$1]}" 2>/dev/null || status=$?
	[[ " ${*:2} " == *" $status "* ]] ||
		complain "exit status $status, not ${*:2}: $(tail -n 3 "$scratch/slot$1")"
}

# strike_client SLOT: kill or interrupt it. A client with few messages may have ended, perhaps before it
# has shown that it handles signals.
strike_client() {
	local pid signals=(KILL INT TERM STOP) name well=
	{ await has_child_or_ended "${slot[$1]}"; } 2>/dev/null || complain "a client does not start"
	pid=$(child "${slot[$1]}")
	[ "${count[$1]}" != 50 ] || well=0
	random 4
	name=${signals[random]}
	kill -s "$name" "$pid" 2>/dev/null || :
	case $name in
	KILL) must_end "$1" 137 $well ;;
	INT) must_end "$1" 0 130 ;;
	TERM) must_end "$1" 0 143 ;;
	STOP)
		wait_a_while
		kill -s KILL "$pid" 2>/dev/null || :
		must_end "$1" 137 $well
		;;
	esac
}

# The clients of a server that is killed fail; another server is started.
strike_server() {
	local i
	kill -KILL "$server_pid"
	ends_with 137 "$server" 2>/dev/null || complain "the server was not killed"
	for ((i = 0; i < clients; i++)); do
		must_end "$i" 0 1
	done
	start_soaked_server
	for ((i = 0; i < clients; i++)); do
		start_slot "$i"
	done
}

start_soaked_server() {
	start_server "$stage/server" -a "$address" -n 0 || complain "no server"
	server_pid=$(child "$server")
	held=$(holds "$server_pid")
}

# Up to half a second: the next action must happen at any moment, not when something is ready.
wait_a_while() {
	random 500
	sleep "$(printf '0.%03d' "$random")"
}

# half END_S ROUNDS: strike until then; the server only if $3.
half() {
	local end=$1 last=$2 i
	for ((i = 0; i < clients; i++)); do
		start_slot "$i"
	done
	while [ $SECONDS -lt "$end" ] && [ "$round" -lt "$last" ]; do
		round=$((round + 1))
		wait_a_while
		random 20
		if [ "$3" = server ] && [ "$random" = 0 ]; then
			strike_server
		else
			random "$clients"
			i=$random
			strike_client "$i"
			start_slot "$i"
		fi
	done
	for ((i = 0; i < clients; i++)); do
		strike_client "$i"
	done
	await holds_again "$server_pid" "$held" ||
		complain "the server held $held, and holds $(holds "$server_pid")"
}

# The messages that a server may print about clients that are killed. soft-iWARP may fail a send to them;
# on RoCE one may meet a QP whose memory is already gone (docs/drivers.md).
expected='listening on|the client left after [0-9]+ messages$|: (most likely )?the client has left'
expected_roce='remote operation error \(status 11, vendor 0x[0-9a-f]+\): the peer could not take it: it was just killed'
expected_iwarp='the client left after [0-9]+ messages; what was sent to it last failed'

judge_server() { # TRANSPORT
	local status=0 allowed=$expected
	if [ "$1" = iWARP ]; then allowed+="|$expected_iwarp"; else allowed+="|$expected_roce"; fi
	client honest "$stage/client" -a "$address" -v || complain "an honest client fails"
	kill -INT "$server" || complain "the server is gone"
	await ended "$server" || complain "the server does not end"
	wait "$server" || status=$?
	[ $status -le 1 ] || complain "the server's exit status is $status"
	grep -vE "$allowed" "$scratch/server" | sort | uniq -c >"$scratch/said" || :
	[ ! -s "$scratch/said" ] || complain "the server said: $(head -c 2000 "$scratch/said")"
}

soak() {
	local name="soak:$1 $stage" address=$2 round=0 start=$SECONDS kib resources count=() slot=()
	resources=$(rdma resource show)
	: >"$scratch/complaints"
	start_soaked_server
	half $((start + minutes * 30)) $((rounds / 2)) server
	kib=$(memory "$server_pid")
	half $((start + minutes * 60)) $((rounds)) clients
	kib=$(($(memory "$server_pid") - kib))
	[ "$kib" -lt $grown_allowance ] || complain "the server has grown by $kib KiB"
	judge_server "$1"
	await resources_as "$resources" || complain "left behind: $(rdma resource show)"
	echo "$name: $round rounds in $((SECONDS - start)) s, $kib KiB"
	check "$([ -s "$scratch/complaints" ] && echo 1 || echo 0)" "$name" "$scratch/complaints"
}

# Connected just now: what the kernel lists as the server's.
connected() {
	rdma resource show qp | grep -cw "pid $server_pid" || :
}

# begin_crowd ADDRESS: start the clients, each with more than a minute's work, so that the last connects
# before the first leaves. They are of ping-sr-4, which does not poll.
begin_crowd() {
	local i
	for ((i = 0; i < crowd; i++)); do
		timeout -s KILL "$limit" ping-sr-4/client -a "$1" -p "$port" -w 60 --rate 1 -c 120 \
			-v -q >"$scratch/member$i" 2>&1 &
		slot[i]=$!
		started+=("$!")
	done
}

# All clients are served at the same time and to their ends; on iWARP, as many as the device allows.
crowd_at_once() {
	local name="crowd:$1 $stage" start=$SECONDS slot=() most=0 now served=0 i status=0 fit=$crowd
	start_server "$stage/server" -a "$2" -n "$crowd" -j || status=1
	server_pid=$(child "$server")
	begin_crowd "$2"
	until ended "$server"; do
		now=$(connected)
		most=$((now > most ? now : most))
		for i in {1..20}; do pause; done # looking takes processor time from the others
	done
	for ((i = 0; i < crowd; i++)); do
		if ends_with 0 "${slot[i]}"; then served=$((served + 1)); fi
	done
	[ "$1" != iWARP ] || [ "$crowd" -le 48 ] || fit=48
	[ $served -ge "$fit" ] || status=1
	[ "$most" -ge "$fit" ] || status=1
	echo "$name: $served of $crowd clients served, $most at once, in $((SECONDS - start)) s"
	cat "$scratch"/member* | sort | uniq -c | sort -rn | head -n 5 >"$scratch/members"
	check $status "$name serves $crowd clients at once" "$scratch/server" "$scratch/members"
}

soak_stages() {
	local number stage
	for number in $stages; do
		stage=ping-sr-$number
		[ "$number" != blast ] || stage=blast-sr-2
		if [ "$crowd" != 0 ]; then
			crowd_at_once "$@"
		else
			soak "$@"
		fi
	done
}
