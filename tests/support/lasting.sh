# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/ladder: a server that goes on, or is stopped, whatever its clients do. With what
# tests/support/tap.sh defines.
# shellcheck disable=SC2154 # scratch, limit, port and server: set by tap.sh

# in_mid_run NAME: whether a client that runs with -T has sent some messages.
in_mid_run() {
	[ "$(grep -c ibv_post_send "$scratch/$1" 2>/dev/null)" -gt 100 ]
}

# ends_with STATUS PID: waits until it has ended; whether with that exit status.
ends_with() {
	local status=0
	wait "$2" || status=$?
	[ "$status" = "$1" ] || echo "exit status $status, not $1" >&2
	[ "$status" = "$1" ]
}

# said NAME: what a program said besides its trace.
said() {
	grep -E '^[^ ]+: [a-z]' "$scratch/$1" | grep -v ': ibv_p' || :
}

# endless NAME COMMAND...: a client in the background that does not end by itself; sets endless.
endless() {
	timeout -s KILL "$limit" "${@:2}" -p "$port" -c 1000000000 -T >"$scratch/$1" 2>&1 &
	endless=$!
	started+=("$endless")
}

# One round: SIGINT while four clients are busy. A stage's server, told to stop, has not failed.
stop_busy_server() {
	local status=0 i clients=()
	start_server "ping-sr-$2/server" -a "$1" -n 0 || status=1
	for i in 1 2 3 4; do
		endless "busy$i" "ping-sr-$2/client" -a "$1"
		clients+=("$endless")
	done
	for i in 1 2 3 4; do
		await in_mid_run "busy$i" || status=1
	done
	kill -INT "$server" || status=1
	ends_with 0 "$server" || status=1
	for i in 1 2 3 4; do
		ends_with 1 "${clients[i - 1]}" || status=1
		# soft-iWARP may fail a send before it says that the server has gone.
		grep -qE 'the server left after|local QP operation error' "$scratch/busy$i" || status=1
		said "busy$i" >"$scratch/busy$i.said"
	done
	[ "$(wc -l <"$scratch/server")" = 1 ] || status=1 # "listening on"
	return $status
}

stops() {
	local name="ladder:$1 ping-sr-$3" status=0
	stop_busy_server "$2" "$3" || status=1
	check $status "$name is stopped while four clients are busy, and says nothing" \
		"$scratch/server" "$scratch"/busy?.said
}

memory_allowance=8 # KiB of 25 clients: some 300 bytes each

# holds PID: what a server has in hand: file descriptors, and what the kernel lists as its own.
holds() {
	local kind
	printf 'fd %s' "$(find "/proc/$1/fd" -mindepth 1 | wc -l)"
	for kind in pd cq qp cm_id mr; do
		printf ' %s %s' $kind "$(rdma resource show $kind | grep -cw "pid $1")"
	done
}

# holds_again PID TEXT: whether it has no more and no less in hand than when `holds` said TEXT.
holds_again() {
	[ "$(holds "$1")" = "$2" ]
}

# resources_as TEXT: whether the devices have what they had when `rdma resource show` said TEXT.
resources_as() {
	[ "$(rdma resource show)" = "$1" ]
}

# KiB of memory that a process has touched.
memory() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"
}

# kill_some PEER...: 25 clients, each killed while it talks; sets grown to the KiB that the server
# with process id $pid has grown by.
kill_some() {
	local kib
	kib=$(memory "$pid")
	client killed "$@" --rounds 25 || return 1
	await holds_again "$pid" "$before" || return 1
	grown=$(($(memory "$pid") - kib))
}

# What a server has to hold for a client that is killed is given back. Its memory may still grow:
# when clients overlap more than those before, malloc(3) keeps what that took. But a leak grows
# with every client: one time in four without any growth is enough to show that there is none.
residue() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before peer grown=$memory_allowance rounds=0
	local talk=10
	start_server "ping-sr-$3/server" -a "$2" -n 0 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	[ "$1" != iWARP ] || talk=0 # soft-iWARP may lose sight of a first message: docs/drivers.md
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 1000 --die-after "$talk")
	while [ "$grown" -ge $memory_allowance ] && [ $rounds -lt 4 ] && [ $status = 0 ]; do
		kill_some "${peer[@]}" || status=1
		rounds=$((rounds + 1))
	done
	echo "before: $before; after: $(holds "$pid"); grew by $grown KiB at last" >"$scratch/held"
	[ "$grown" -lt $memory_allowance ] || status=1
	kill -INT "$server" || status=1
	ends_with 0 "$server" || status=1 # that its clients died is not its failure
	[ "$(grep -c 'the client left after' "$scratch/server")" = $((rounds * 25)) ] || status=1
	check $status "$name holds no more after clients were killed, 25 at a time" \
		"$scratch/held" "$scratch/killed" "$scratch/server"
}

# Clients whose messages are not as long as they said, and clients that are killed with their connect
# request sent and no answer heard. What the server makes of those depends on how far they came.
liars() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before peer
	# shellcheck disable=SC2034 # await reads it
	local limit=150 patience=100 # the kernel may take a minute to destroy an id: docs/pitfalls.md
	start_server "ping-sr-$3/server" -a "$2" -n 0 --timeout 5 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 100)
	client longer "${peer[@]}" --send-size 65 && status=1
	# soft-iWARP may lose sight of a first message (docs/drivers.md): then this client is given
	# up for silent, and the next one heard.
	for _ in 1 2 3 4; do
		client shorter "${peer[@]}" --send-size 63 && status=1
		! says server "received a message of 63 bytes" || break
	done
	client dead "${peer[@]}" --async --die-connecting --die-after 0 --rounds 10 || status=1
	client honest "ping-sr-$3/client" -a "$2" -v || status=1
	await holds_again "$pid" "$before" || status=1
	kill -INT "$server" || status=1
	ends_with 0 "$server" || status=1 # what its clients did is not its failure
	says server "received a message of 63 bytes where 64 were expected" || status=1
	check $status "$name serves the next after wrong sizes and half a connection" \
		"$scratch/server" "$scratch/longer" "$scratch/shorter" "$scratch/dead" \
		"$scratch/honest"
}
