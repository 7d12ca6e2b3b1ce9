# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/ladder: a server that must continue, or can be stopped, whatever its clients do. Uses
# tests/support/tap.sh.
# shellcheck disable=SC2154 # scratch, limit, port and server: set by tap.sh

# in_mid_run NAME: true if a client that runs with -T has sent some messages.
in_mid_run() {
	[ "$(grep -c ibv_post_send "$scratch/$1" 2>/dev/null)" -gt 100 ]
}

# ends_with STATUS PID: wait until it has ended; true if its exit status is STATUS.
ends_with() {
	local status=0
	wait "$2" || status=$?
	[ "$status" = "$1" ] || echo "exit status $status, not $1" >&2
	[ "$status" = "$1" ]
}

# said NAME: print a program's output without its trace.
said() {
	grep -E '^[^ ]+: [a-z]' "$scratch/$1" || :
}

# endless NAME COMMAND...: start a client that does not end by itself in the background; sets endless.
endless() {
	timeout -s KILL "$limit" "${@:2}" -p "$port" -c 1000000000 -T >"$scratch/$1" 2>&1 &
	endless=$!
	started+=("$endless")
}

# One round: SIGINT while four clients are busy. A server that is told to stop exits with status 0.
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
		# soft-iWARP may fail a send before it reports that the server has left.
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

# holds PID: print a server's file descriptors and its RDMA resources as the kernel lists them.
holds() {
	local kind
	printf 'fd %s' "$(find "/proc/$1/fd" -mindepth 1 | wc -l)"
	for kind in pd cq qp cm_id mr; do
		printf ' %s %s' $kind "$(rdma resource show $kind | grep -cw "pid $1")"
	done
}

# holds_again PID TEXT: true if it has exactly the resources that it had when `holds` printed TEXT.
holds_again() {
	[ "$(holds "$1")" = "$2" ]
}

# resources_as TEXT: true if the devices have as many objects as when `rdma resource show` printed TEXT.
resources_as() {
	[ "$(rdma resource show)" = "$1" ]
}

# The resident memory of a process, in KiB.
memory() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"
}

# kill_some PEER...: start 25 clients, and kill each while it sends. Sets grown to the KiB by which the
# memory of the server with process id $pid has grown.
kill_some() {
	local kib
	kib=$(memory "$pid")
	client killed "$@" --rounds 25 || return 1
	await holds_again "$pid" "$before" || return 1
	grown=$(($(memory "$pid") - kib))
}

# A server frees the resources of a client that is killed. Its memory may still grow: if more clients
# overlap than before, malloc(3) keeps the memory that this needed. But a leak grows with every client.
# So one round of four without any growth shows that there is no leak.
residue() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before peer grown=$memory_allowance rounds=0
	local talk=10
	start_server "ping-sr-$3/server" -a "$2" -n 0 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	[ "$1" != iWARP ] || talk=0 # soft-iWARP may overlook a first message: docs/drivers.md
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 1000 --die-after "$talk")
	while [ "$grown" -ge $memory_allowance ] && [ $rounds -lt 4 ] && [ $status = 0 ]; do
		kill_some "${peer[@]}" || status=1
		rounds=$((rounds + 1))
	done
	echo "before: $before; after: $(holds "$pid"); grew by $grown KiB at last" >"$scratch/held"
	[ "$grown" -lt $memory_allowance ] || status=1
	kill -INT "$server" || status=1
	ends_with 0 "$server" || status=1 # it has not failed, although its clients died
	[ "$(grep -c 'the client left after' "$scratch/server")" = $((rounds * 25)) ] || status=1
	check $status "$name holds no more after clients were killed, 25 at a time" \
		"$scratch/held" "$scratch/killed" "$scratch/server"
}

# Clients whose messages have another length than they announced, and clients that are killed after they
# have sent a connect request, before the answer. How the server sees these depends on the moment.
liars() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before peer
	# shellcheck disable=SC2034 # await reads it
	local limit=150 patience=100 # the kernel may take a minute to destroy an id: docs/pitfalls.md
	start_server "ping-sr-$3/server" -a "$2" -n 0 --timeout 5 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 100)
	client longer "${peer[@]}" --send-size 65 && status=1
	# soft-iWARP may overlook a first message (docs/drivers.md). The server then drops this client
	# because it is silent, and serves the next one.
	for _ in 1 2 3 4; do
		client shorter "${peer[@]}" --send-size 63 && status=1
		! says server "received a message of 63 bytes" || break
	done
	client dead "${peer[@]}" --async --die-connecting --die-after 0 --rounds 10 || status=1
	client honest "ping-sr-$3/client" -a "$2" -v || status=1
	await holds_again "$pid" "$before" || status=1
	kill -INT "$server" || status=1
	ends_with 0 "$server" || status=1 # it has not failed, although its clients have
	says server "received a message of 63 bytes where 64 were expected" || status=1
	check $status "$name serves the next after wrong sizes and half a connection" \
		"$scratch/server" "$scratch/longer" "$scratch/shorter" "$scratch/dead" \
		"$scratch/honest"
}
