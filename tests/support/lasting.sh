# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/ladder: a server that goes on, or is stopped, whatever its clients do. With what
# tests/support/tap.sh defines.
# shellcheck disable=SC2154 # scratch, limit, port and server: set by tap.sh

# child PID: prints the process id of what the timeout(1) with that process id has started.
child() {
	local children=
	read -r children 2>/dev/null <"/proc/$1/task/$1/children" || : # no line feed at its end
	echo "${children%% *}"
}

# in_mid_run NAME: whether a client that runs with -T has sent some messages.
in_mid_run() {
	[ "$(grep -c ibv_post_send "$scratch/$1" 2>/dev/null)" -gt 100 ]
}

# ends_with STATUS PID: waits until it has ended; whether with that exit status.
ends_with() {
	local status=0
	wait "$2" || status=$?
	[ "$status" = "$1" ]
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
	end_server || status=1
	for i in 1 2 3 4; do
		ends_with 1 "${clients[i - 1]}" || status=1
		# soft-iWARP may fail a send before it says that the server has gone.
		grep -qE 'the server left after|local QP operation error' "$scratch/busy$i" || status=1
		grep -vE ' (ibv|rdma)_[a-z_]+(:| +ok)' "$scratch/busy$i" >"$scratch/busy$i.said" || status=1
	done
	[ "$(wc -l <"$scratch/server")" = 1 ] || status=1 # "listening on"
	return $status
}

stops() {
	local name="ladder:$1 ping-sr-$3" status=0
	for _ in 1 2; do
		[ $status != 0 ] || stop_busy_server "$2" "$3" || status=1
	done
	check $status "$name is stopped while four clients are busy, and says nothing" \
		"$scratch/server" "$scratch"/busy?.said
}

memory_allowance=64 # KiB: a few hundred bytes a client

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

# Two hundred clients, each killed while it talks: what the server had to hold for them is given
# back. It need not be so after the first few: threads, stacks and arenas are kept for the next.
residue() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before after kib peer
	start_server "ping-sr-$3/server" -a "$2" -n 0 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 1000 --die-after 10)
	client warm-up "${peer[@]}" --rounds 50 || status=1
	kib=$(memory "$pid")
	client killed "${peer[@]}" --rounds 150 || status=1
	await holds_again "$pid" "$before" || status=1
	after=$(holds "$pid") # it runs
	kib=$(($(memory "$pid") - kib))
	echo "before: $before; after: $after; $kib KiB more" | tee "$scratch/held"
	[ "$kib" -lt $memory_allowance ] || status=1
	kill -INT "$server" || status=1
	ends_with 1 "$server" || status=1 # its clients have failed
	[ "$(grep -c 'the client left after' "$scratch/server")" = 200 ] || status=1
	check $status "$name holds no more after 200 clients were killed" \
		"$scratch/held" "$scratch/killed" "$scratch/server"
}

# Clients whose messages are not as long as they said, and clients that are killed with their connect
# request sent and no answer heard. What the server makes of those depends on how far they came.
liars() {
	local name="ladder:$1 ping-sr-$3" status=0 pid before peer
	start_server "ping-sr-$3/server" -a "$2" -n 0 --timeout 5 || status=1
	pid=$(child "$server")
	before=$(holds "$pid")
	peer=(build/tests/peer --client --stage 1 -a "$2" -c 100)
	client longer "${peer[@]}" --send-size 65 && status=1
	client shorter "${peer[@]}" --send-size 63 && status=1
	client dead "${peer[@]}" --async --die-connecting --die-after 0 --rounds 10 || status=1
	client honest "ping-sr-$3/client" -a "$2" -v || status=1
	await holds_again "$pid" "$before" || status=1
	kill -INT "$server" || status=1
	ends_with 1 "$server" || status=1 # some of its clients have failed
	says server "received a message of 63 bytes where 64 were expected" || status=1
	check $status "$name serves the next after wrong sizes and half a connection" \
		"$scratch/server" "$scratch/longer" "$scratch/shorter" "$scratch/dead" \
		"$scratch/honest"
}
