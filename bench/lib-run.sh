# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Starts programs, waits for them, and ends those that it started: by their process ids, and no others. Every program
# runs under timeout(1). Failures are counted, named and survived: one lost sample does not spoil an hour.

declare -A running=()            # process ids of what has not been waited for
declare -A server=() client=()   # program -> its command, see define_programs
failures=0
next_port=18515
ticks_per_second=$(getconf CLK_TCK)

say() { printf 'bench: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit 1
}

# failed WHAT FILE...: counts a failure and shows what the programs said.
failed() {
	local what=$1 file
	shift
	failures=$((failures + 1))
	say "FAILED: $what"
	for file; do
		tail -n 5 "$scratch/$file.err" 2>/dev/null | sed "s/^/  $file: /" >&2
	done
}

# start NAME COMMAND...: in the background, output in $scratch/NAME.out and .err; sets pid.
start() {
	local name=$1
	shift
	timeout -k 5 "$time_limit" "$@" </dev/null >"$scratch/$name.out" 2>"$scratch/$name.err" &
	pid=$!
	running[$pid]=1
}

# finish PID: waits for it; its status.
finish() {
	local status=0
	wait "$1" || status=$?
	unset "running[$1]"
	return $status
}

# end PID: it has failed or is not needed: ends it, if it still runs.
end() {
	kill "$1" 2>/dev/null || :
	finish "$1" || :
}

end_all() {
	local one
	for one in "${!running[@]}"; do end "$one"; done
}

# A port for each run: the last run's may still be in TIME_WAIT.
take_port() {
	port=$next_port
	next_port=$((next_port < 28000 ? next_port + 1 : 18515))
}

# await_listening PID PORT: until the kernel lists a listener on the port; false if the process ends first.
await_listening() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		if rdma resource show cm_id | grep -q "state LISTEN .*:$2 "; then return 0; fi
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# Sets busy to the ticks that all CPUs have worked since boot: user, nice, system, irq and softirq.
read_busy() {
	local user nice system irq softirq
	read -r _ user nice system _ _ irq softirq _ </proc/stat
	busy=$((user + nice + system + irq + softirq))
}

# Sets now_us.
read_clock() { now_us=${EPOCHREALTIME/[.,]/}; }

# For each program its two commands; PORT, COUNT, ADDRESS and DEVICE are put in by command_of.
define_programs() {
	local stage
	for stage in 0 1 2 3 4; do
		server[ping-sr-$stage]="ping-sr-$stage/server -q -j -a ADDRESS -p PORT -s $size COUNT"
		client[ping-sr-$stage]="ping-sr-$stage/client -q -j -a ADDRESS -p PORT -s $size COUNT"
	done
	server[ib_send_lat]="ib_send_lat -F -R DEVICE -p PORT -s $size COUNT"
	client[ib_send_lat]="ib_send_lat -F -R DEVICE -p PORT -s $size COUNT ADDRESS"
	server[ib_send_lat -e]="${server[ib_send_lat]} -e"
	client[ib_send_lat -e]="${client[ib_send_lat]} -e"
}

# command_of COMMAND COUNT: sets command, an array. COUNT is a whole option.
command_of() {
	local text=$1 device_option=
	[ -z "$device" ] || device_option="-d $device"
	text=${text/ADDRESS/$address} text=${text/PORT/$port} text=${text/COUNT/$2} text=${text/DEVICE/$device_option}
	read -r -a command <<<"$text"
}

# start_server PROGRAM COUNT: sets server_pid and port; returns when it listens.
start_server() {
	take_port
	command_of "${server[$1]}" "$2"
	start server "${command[@]}"
	server_pid=$pid
	if await_listening "$server_pid" "$port"; then return 0; fi
	end "$server_pid"
	failed "$1 does not listen on port $port of $link" server
	return 1
}

# run_pair PROGRAM SERVER_COUNT CLIENT_COUNT: one server, one client, output in $scratch/{server,client}.out. Sets
# used_ticks and used_us, from when the server listened until both have ended.
run_pair() {
	local program=$1 before_ticks before_us status=0
	start_server "$program" "$2" || return 1
	command_of "${client[$program]}" "$3"
	read_busy; before_ticks=$busy
	read_clock; before_us=$now_us
	start client "${command[@]}"
	if ! finish "$pid"; then
		status=1
		end "$server_pid"
	else
		finish "$server_pid" || status=1
	fi
	read_busy; used_ticks=$((busy - before_ticks))
	read_clock; used_us=$((now_us - before_us))
	[ $status = 0 ] || failed "$program on $link" client server
	return $status
}

# for_each_link FUNCTION ARGUMENT...: with link, address and device set.
for_each_link() {
	local line
	for line in "${links[@]}"; do
		read -r link address device <<<"$line"
		"$@"
	done
}
