# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One run from boot to exit status. Helpers in the background copy the streams and write events to a pipe, which the
# loop here reads. Events: "ready N", "exit N STATUS", "out N RC", "err N RC" (a stream has ended).

boot_limit=180                   # seconds; a loaded machine under emulation boots in 30
grace=5                          # seconds that a command has after an interrupt to print its statistics

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }

relay_control() {                # relay_control N
	local verb rest
	while read -r verb rest; do
		echo "${verb,,} $1 $rest" >&"$events"
	done <"$run/$1/ctl.out"
}

tell() {                         # tell N WORDS: write to the guest, whose QEMU holds the pipe open
	! vm_alive "$1" || echo "${@:2}" >"$run/$1/ctl.in"
}

start_helpers() {                # start_helpers N
	local prefix=
	[ "$hosts" = 1 ] || [ "$prefixed" = 0 ] || prefix="$1| "
	"$lab_dir/lib/relay" "$mark" "$prefix" "out $1" <"$run/$1/out.out" 3>&"$events" &
	helpers+=($!)
	"$lab_dir/lib/relay" "$mark" "$prefix" "err $1" <"$run/$1/err.out" 3>&"$events" >&2 &
	helpers+=($!)
	relay_control "$1" </dev/null &
	helpers+=($!)
}

# failed N: the guest ended without the status of its command. Report the cause.
failed() {
	local log=$run/$1/console what
	if what=$(grep -ahom1 'lab-guest: .*' "$log" 2>/dev/null); then
		what="the guest failed: ${what#lab-guest: }"
	elif grep -qa "Kernel panic" "$log" 2>/dev/null; then
		# Rarely the kernel of an emulated machine panics while it boots: no command has run yet.
		[ "$ready" = "$hosts" ] || boot_again "$1" "the kernel of host $1 panicked while it booted"
		what="the guest's kernel panicked: $(grep -am1 -o 'Kernel panic.*' "$log" | tr -d '\r')"
	elif [ -s "$run/$1/qemu.log" ]; then
		what="QEMU failed: $(tail -n 1 "$run/$1/qemu.log")"
	else
		what="the virtual machine ended before the command did (QEMU was killed?)"
	fi
	what=$(printf '%s' "$what" | tr -d '\r')
	[ "$hosts" = 1 ] || what="host $1: $what"
	give_up "$what" "$1"
}

give_up() {                      # give_up SENTENCE N: print the end of the guest's console and the sentence, and exit
	if [ -s "$run/$2/console" ]; then
		leave_terminal
		echo "lab: the guest's console ended with:" >&2
		tail -n 40 "$run/$2/console" | tr -d '\r' | sed 's/^/lab: | /' >&2
	fi
	echo "lab: $1" >&2
	exit "$lab_failed"
}

# The kernel measures the rate of the time-stamp counter while it boots. If it is disturbed then, for instance because
# another machine boots, it may find a fifth of the rate. Its clock then runs five times too fast, and no result of a test
# could be trusted.
clock_runs_fast() {              # clock_runs_fast UPTIME-SECONDS ELAPSED-MS
	local ms=${1/./}0
	[ $((10#$ms)) -gt $(($2 + 500)) ]
}

# boot_again N WHAT: start lab/run again with the same arguments, because of WHAT, which is printed. Nothing has been
# read from standard input yet.
boot_again() {
	[ "${LAB_BOOTS:-1}" -lt 5 ] || give_up "$2, in 5 boots" "$1"
	note "$2: booting again"
	export LAB_BOOTS=$((${LAB_BOOTS:-1} + 1))
	again=1
	exit "$lab_failed"
}

handle() {                       # handle EVENT N VALUE
	case $1 in
	ready)
		! clock_runs_fast "$3" $(($(now_ms) - started_ms)) ||
			boot_again "$2" "host $2's clock runs too fast"
		note "host $2 booted in $(($(now_ms) - started_ms)) ms (its own clock: $3 s)"
		ready=$((ready + 1))
		[ "$ready" = "$hosts" ] || return 0
		command_ms=$(now_ms)
		[ "$tty" = 0 ] || enter_terminal
		[ "$stdin" = 0 ] || start_stdin
		local n
		for ((n = 1; n <= hosts; n++)); do tell "$n" GO; done
		;;
	exit)
		status[$2]=$3
		pieces[$2]=$((pieces[$2] + 1))
		;;
	out | err)
		case $3 in
		0) pieces[$2]=$((pieces[$2] + 1)) ;;
		1) ;;                        # QEMU is gone: check_time sees it
		141) exit 141 ;;             # nobody reads the output any more
		*) exit "$lab_failed" ;;     # the relay has printed the reason
		esac
		;;
	esac
}

check_time() {
	local n now
	now=$(now_ms)
	if [ -n "$interrupted" ] && [ "$now" -ge "$deadline_ms" ]; then exit "$interrupted"; fi
	if [ "$timeout" != 0 ] && [ $((now - started_ms)) -ge $((timeout * 1000)) ]; then
		echo "lab: the command did not end in $timeout s (--timeout)" >&2
		exit 124
	fi
	if [ "$ready" -lt "$hosts" ] && [ $((now - started_ms)) -ge $((boot_limit * 1000)) ]; then
		give_up "the guest did not boot within $boot_limit s" 1
	fi
	for ((n = 1; n <= hosts; n++)); do
		[ "${pieces[$n]}" = 3 ] || vm_alive "$n" || { sleep 0.2; drain; [ "${pieces[$n]}" = 3 ] || failed "$n"; }
	done
}

# next_event SECONDS: wait for an event and handle it. On a busy machine the time may end in the middle of a line.
next_event() {
	local line='' event n value
	if IFS= read -t "$1" -r -u "$events" line; then
		line=$partial$line partial=''
		read -r event n value <<<"$line"
		handle "$event" "$n" "$value"
	else
		partial=$partial$line
		return 1
	fi
}

drain() {
	while next_event 0.01; do :; done
}

all_done() {
	local n
	for ((n = 1; n <= hosts; n++)); do [ "${pieces[$n]}" = 3 ] || return 1; done
}

interrupt() {                    # interrupt NUMBER NAME: the first goes to the command, the second ends the machine
	[ -z "$interrupted" ] || exit "$interrupted"
	interrupted=$((128 + $1))
	[ "$ready" = "$hosts" ] || exit "$interrupted"
	deadline_ms=$(($(now_ms) + grace * 1000))
	local n
	for ((n = 1; n <= hosts; n++)); do tell "$n" "$2"; done
}

# run_session: boot, run, and return the commands' status.
run_session() {
	local n
	partial='' qemu_pid=() helpers=() feeders=() status=() pieces=() ready=0 interrupted='' deadline_ms=0
	mkfifo "$run/events"
	exec {events}<>"$run/events"
	started_ms=$(now_ms)
	trap 'interrupt 2 INT' INT
	trap 'interrupt 15 TERM' TERM
	trap 'interrupt 1 HUP' HUP
	for ((n = 1; n <= hosts; n++)); do
		pieces[n]=0
		prepare_vm "$n"
		start_vm "$n"
		start_helpers "$n"
	done
	until all_done; do
		next_event 0.25 || true
		check_time
	done
	note "the command ran $(($(now_ms) - command_ms)) ms"
	[ -z "$interrupted" ] || return "$interrupted"
	[ "${status[1]}" = 0 ] || return "${status[1]}"
	return "${status[hosts]}"
}

start_stdin() {
	local from
	exec {from}<&0
	setpriv --pdeathsig KILL "$lab_dir/lib/relay" --feed "$mark" <&"$from" >"$run/1/in.in" &
	feeders+=($!)
}

# The streams of a machine that has ended may still hold output: copy it, but wait two seconds at most.
end_helpers() {
	local n pid
	for ((n = 0; n < 20; n++)); do
		for pid in ${helpers[@]+"${helpers[@]}"}; do
			if kill -0 "$pid" 2>/dev/null; then sleep 0.1; continue 2; fi
		done
		return 0               # in a trap, a bare return returns the status before the trap
	done
	kill "${helpers[@]}" 2>/dev/null || true
}
