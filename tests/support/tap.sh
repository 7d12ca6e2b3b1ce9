# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by the tests that are scripts: TAP results, and a server in the background. Every program that is
# started has a limit on its time; those that are left at the end are killed by their process ids.
tap=${CK_TAP_LOG_FILE_NAME:-/dev/stdout}
limit=60    # seconds, for any program
patience=30 # seconds, for any condition
port=20000
tests=0
failed=0
ended_us=${EPOCHREALTIME/[.,]/} # when the last test ended: how long each takes is on stdout
server=
started=()
unmet=()
scratch=$(mktemp -d)
trap 'finish' EXIT
mkfifo "$scratch/never"
exec {never}<>"$scratch/never" # never readable: see pause
rm "$scratch/never"
: >"$tap"

finish() {
	local pid
	# The signal goes to timeout(1), which passes it on, and kills the program when its time is over.
	for pid in "${started[@]}"; do
		kill -TERM "$pid" 2>/dev/null || :
	done
	rm -rf "$scratch"
}

# result ok|"not ok" NAME: write a line of TAP.
result() {
	local now_us=${EPOCHREALTIME/[.,]/}
	tests=$((tests + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $tests - $2" >>"$tap"
	echo "$(((now_us - ended_us) / 1000)) ms: $2"
	ended_us=$now_us
}

# must COMMAND...: if it fails, set status to 1; check says which command it was.
must() {
	"$@" && return
	status=1
	unmet+=("'$*'")
}

# check STATUS NAME FILE...: ok if STATUS is 0, otherwise "not ok", the commands that must not have failed,
# and the last lines of each FILE.
check() {
	if [ "$1" = 0 ]; then
		result ok "$2"
	else
		result "not ok" "$2: ${unmet[*]/#/failed: } $(tail -qn 5 "${@:3}" | tr '\n' ' ' | cut -c 1-600)"
	fi
	unmet=()
}

# Write the plan; return the exit status of the script.
end_of_tests() {
	echo "1..$tests" >>"$tap"
	[ $failed = 0 ]
}

# Wait for a twentieth of a second without starting a process, which takes longer in an emulated guest.
pause() {
	read -r -t 0.05 -u "$never" || :
}

# await COMMAND...: repeat it until it succeeds, or $patience is over. For conditions without an event.
await() {
	local end=$((SECONDS + patience))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		pause
	done
}

listening_or_gone() {
	[[ $(<"$scratch/server") == *'listening on'* ]] || ! kill -0 "$server" 2>/dev/null
}

# start_server COMMAND...: start it on a port of its own, which is in $port, and wait until it listens. Its
# output is in $scratch/server and $scratch/server.out.
start_server() {
	port=$((port + 1))
	: >"$scratch/server"
	timeout -s KILL $limit "$@" -p $port >"$scratch/server.out" 2>"$scratch/server" &
	server=$!
	started+=("$server")
	await listening_or_gone
}

# end_server: wait until it has ended by itself; returns its exit status.
end_server() {
	local status=0
	wait "$server" || status=$?
	server=
	return $status
}

# folder_of STAGE: print where its programs are.
folder_of() {
	if [ -d "beyond/$1" ]; then echo "beyond/$1"; else echo "$1"; fi
}

# child PID: print the process id of the program that the timeout(1) with that process id has started.
child() {
	local children=
	read -r children 2>/dev/null <"/proc/$1/task/$1/children" || : # no line feed at its end
	echo "${children%% *}"
}

# client NAME COMMAND...: run a client of that server; its output is in $scratch/NAME.
client() {
	local status=0
	timeout -s KILL $limit "${@:2}" -p $port >"$scratch/$1" 2>&1 || status=$?
	return $status
}

# for_each_transport FUNCTION: FUNCTION TRANSPORT ADDRESS
for_each_transport() {
	local transport
	for transport in RoCE:"${LAB_ROCE_ADDR:-${RDMA_ADDR:-}}" iWARP:"${LAB_IWARP_ADDR:-}"; do
		[ -z "${transport#*:}" ] || "$1" "${transport%%:*}" "${transport#*:}"
	done
}
