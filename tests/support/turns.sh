# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests/ladder: clients that must wait until they are served, are refused, or get no answer. Uses
# tests/support/tap.sh and tests/support/lasting.sh.
# shellcheck disable=SC2154 # scratch, limit, port, server and endless: set there

# A server that has as many clients as -n says refuses further clients with a message.
busy() {
	local name="ladder:$1 ping-sr-$3" status=0
	start_server "ping-sr-$3/server" -a "$2" -n 1 || status=1
	endless first "ping-sr-$3/client" -a "$2"
	await in_mid_run first || status=1
	client second "ping-sr-$3/client" -a "$2" -w 5 && status=1
	says second "refused us: it is busy: it was to serve 1 clients (-n)" || status=1
	kill -INT "$endless" || status=1
	ends_with 0 "$endless" || status=1
	end_server || status=1 # it has not failed, although its client left early
	check $status "$name -n 1 refuses a second client, and says why" \
		"$scratch/server" "$scratch/second"
}

# A client with -w that is refused first, because there is no server, and then waits behind another
# client for longer than it waits for an answer to its disconnect. It must be served in the end.
queued() {
	local status=0 waiting first
	timeout -s KILL "$limit" ping-sr-1/client -a "$2" -p $((port + 1)) -w 60 -t \
		>"$scratch/waiting" 2>&1 &
	waiting=$!
	started+=("$waiting")
	await says waiting rdma_destroy_id || status=1
	kill -STOP "$(child "$waiting")" || status=1
	start_server ping-sr-1/server -a "$2" -n 2 || status=1
	timeout -s KILL "$limit" ping-sr-1/client -a "$2" -p "$port" -c 15 --rate 1 -T \
		>"$scratch/first" 2>&1 &
	first=$!
	started+=("$first")
	await says first ibv_post_send || status=1
	kill -CONT "$(child "$waiting")" || status=1
	ends_with 0 "$first" || status=1
	ends_with 0 "$waiting" || status=1
	end_server || status=1
	said waiting >"$scratch/waiting.said"
	check $status "ladder:$1 ping-sr-1: a client that was refused may be queued behind another" \
		"$scratch/waiting.said" "$scratch/server"
}

# Clients with -D, whose servers are stopped (SIGSTOP), not killed: no answer comes, and no event. They
# must end all the same, and report what they waited for.
overdue() {
	local program status pid
	local -A servers=() clients=()
	local programs=(ping-sr-{0,2,4})
	[ -z "${TESTS_ALL:-}" ] || programs=(ping-sr-{0,2,3,4,5})
	for program in "${programs[@]}"; do
		start_server "$program/server" -a "$2" -D 1000 || :
		servers[$program]=$server
		timeout -s KILL "$limit" "$program/client" -a "$2" -p "$port" -D 6 -T \
			>"$scratch/overdue-$program" 2>&1 &
		clients[$program]=$!
		started+=("$!")
		await in_mid_run "overdue-$program" || :
		kill -STOP "$(child "$server")" || :
	done
	for program in "${!clients[@]}"; do
		status=0
		ends_with 1 "${clients[$program]}" || status=1
		said "overdue-$program" >"$scratch/overdue.said"
		says overdue.said "waited in vain for the server's answer to message" || status=1
		check $status "ladder:$1 $program/client ends after its time though no answer comes" \
			"$scratch/overdue.said"
		pid=$(child "${servers[$program]}")
		kill -KILL "$pid" || :
		wait "${servers[$program]}" 2>/dev/null || :
	done
}

# One side of a connection whose device was removed: it reports this, or that the peer has left, or, on
# soft-iWARP, that a send failed before; it prints nothing about rdma_disconnect.
told_of_removal() { # NAME PID
	ends_with 1 "$2" || return 1
	said "$1" >"$scratch/$1.said"
	grep -qE 'RDMA_CM_EVENT_DEVICE_REMOVAL|(client|server) left after|local QP operation error' \
		"$scratch/$1.said" && ! grep -q rdma_disconnect "$scratch/$1.said"
}

# Remove the device during a run: only in the lab, where it can be added again.
removal() { # TRANSPORT ADDRESS STAGE DEVICE TYPE NETDEV
	local name="ladder:$1 ping-sr-$3" status=0
	start_server "ping-sr-$3/server" -a "$2" -n 2 || status=1
	endless removed "ping-sr-$3/client" -a "$2"
	await in_mid_run removed || status=1
	timeout "$limit" rdma link delete "$4" || status=1
	told_of_removal removed "$endless" || status=1
	told_of_removal server "$server" || status=1
	grep -q RDMA_CM_EVENT_DEVICE_REMOVAL "$scratch/removed.said" "$scratch/server.said" || status=1
	rdma link add "$4" type "$5" netdev "$6" || status=1
	check $status "$name says that the device was removed, and nothing else" \
		"$scratch/removed.said" "$scratch/server"
}
