# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The checks of lab/test, one function each. A check that fails prints a sentence and returns a non-zero status; one that
# cannot run here returns 77. Each has a TMPDIR of its own, whose name is in the command line of each QEMU that it starts.
# shellcheck disable=SC2016,SC2164   # commands for the guest stay as they are; set -e guards cd

fail() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }

# expect STATUS COMMAND...: run the command with both outputs in files; fail unless it exits with that status.
expect() {
	local want=$1 rc=0
	shift
	"$@" >out 2>err || rc=$?
	[ "$rc" = "$want" ] || { cat err; fail "status $rc, not $want: $*"; }
}

ours() {                         # the ids of this check's QEMUs
	local file words
	for file in /proc/[0-9]*/cmdline; do
		mapfile -d '' -t words 2>/dev/null <"$file" || continue
		[[ ${words[*]-} != *"$TMPDIR/rdma-lab"* ]] || printf '%s\n' "${file//[!0-9]/}"
	done 2>/dev/null
}

no_qemu_left() {
	local n
	for ((n = 0; n < 30; n++)); do
		[ -n "$(ours)" ] || return 0
		sleep 0.1
	done
	fail "QEMU is still there"
}

await() {                        # await FILE TEXT: until the file holds the text
	local n
	for ((n = 0; n < 300; n++)); do
		! grep -qs "$2" "$1" || return 0
		sleep 0.1
	done
	fail "no '$2' in $1"
}

sentence() { grep -q "^lab: .*$1" "$2" || { cat "$2"; fail "no sentence about '$1'"; }; }

check_options() {
	local line
	while IFS= read -r line; do
		# shellcheck disable=SC2086
		expect 2 "$run" $line
		[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || { cat err; fail "not one sentence: $line"; }
	done <<-'END'

		--
		--nonsense -- true
		--cpus -- true
		--cpus 0 -- true
		--cpus two -- true
		--cpus 99999999999999999999 -- true
		--memory 1 -- true
		--timeout -1 -- true
		--timeout 0 -- true
		--hosts 3 -- true
		--hosts 2 -- true
		--hosts 2 -- true :::
		--loss 5 -- true
		--hosts 2 --loss 101 -- true ::: true
		--hosts 2 --loss 5% -- true ::: true
		--hosts 2 --delay x -- true ::: true
		--hosts 2 --stdin -- true ::: true
		--capture x.pcap -- true
		--roce --iwarp -- true
		--env 9=x -- true
		--writable /does/not/exist -- true
		--console /does/not/exist -- true
		--kernel
		--kernel -- true
		--kernel nonsense -- true
		--kernel 6.12! -- true
		--kernel ./6.12 -- true
		--kernel /does/not/exist -- true
		--kernel /etc/passwd -- true
		--kernel=/does/not/exist.deb --list
		--sources -- true
		--sources /etc/passwd -- true
		--sources /does/not/exist.sources -- true
		--list true
		--timeout
	END
	LAB_ACCEL=abacus expect 2 "$run" -- true
	LAB_KERNEL=abacus expect 2 "$run" -- true
	LAB_SOURCES=abacus expect 2 "$run" -- true
	LAB_KERNEL=abacus expect 0 "$run" --kernel default --list
	expect 0 "$run" --help
	grep -q '^usage:' out
	expect 0 "$run" --list
	grep -q '^accelerator' out || fail "--list says no accelerator"
}

check_exit_status() {
	expect 7 "$run" -- sh -c 'exit 7'
	expect 143 "$run" -- sh -c 'kill -TERM $$'
	expect 127 "$run" -- no-such-program
	[ ! -s out ] || fail "stdout is not empty"
}

check_streams() {
	local want
	want=$({ for _ in 1 2 3 4 5 6 7 8 9; do cat /bin/bash; done; printf 'a\r\n\0b0\n'; } | sha256sum)
	echo unwanted | expect 0 "$run" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do cat /bin/bash; done
		echo to-stderr >/dev/stderr; printf "a\r\n\0b"; wc -c'
	[ "$(tail -n 1 out | tr -d '\0')" = b0 ] || fail "without --stdin there was input"
	[ "$(sha256sum <out)" = "$want" ] || fail "10 MB, of any bytes, did not arrive byte for byte"
	[ "$(cat err)" = to-stderr ] || { cat err; fail "stderr holds something else"; }
}

check_standard_input() {
	head -c 100000 /bin/bash >in
	expect 0 "$run" --stdin -- cat <in
	cmp in out || fail "stdin did not arrive byte for byte"
}

check_place() {
	mkdir 'a b'
	cd 'a b'
	expect 0 "$run" -- sh -c 'pwd; id -u; hostname; ls /dev/infiniband /dev/shm /dev/pts; ulimit -l; cat /proc/1/comm;
		ip -o link show lo; : >/dev/shm/x; : >/tmp/x; : >$HOME/x; dmesg | grep -c Linux'
	[ "$(head -n 1 out)" = "$PWD" ] || { cat out; fail "another directory"; }
	grep -q uverbs0 out && grep -q rdma_cm out && grep -q unlimited out && grep -q UP out || { cat out; fail "incomplete"; }
}

# With any other clock source, clock_gettime(2) in the guest is a system call.
check_environment() {
	FROM_CALLER=1 NOT_PASSED=1 expect 0 "$run" --env FROM_CALLER --env 'SET=a b' --env NOT_THERE -- sh -c 'env
		cat /sys/devices/system/clocksource/clocksource0/current_clocksource'
	[ "$(tail -n 1 out)" = tsc ] || fail "the guest's clock is $(tail -n 1 out)"
	grep -qx FROM_CALLER=1 out && grep -qx 'SET=a b' out && ! grep -q NOT_ out || { cat out; fail "--env"; }
	grep -qx LAB_GUEST=1 out && grep -qx LAB_ROCE_DEV=rxe0 out && grep -qx LAB_IWARP_DEV=siw0 out || fail "LAB_ variables"
}

check_writable() {
	mkdir here there
	cd here
	expect 0 "$run" -- sh -c 'echo result >file; mkdir dir; ! touch /usr/file; ! touch ../there/file'
	[ "$(cat file)" = result ] && [ -d dir ] || fail "the result did not come back"
	expect 0 "$run" --writable ../there -- sh -c 'echo result >../there/file; ! touch other'
	[ "$(cat ../there/file)" = result ] || fail "--writable"
}

check_timeout_ends() {
	expect 124 "$run" --timeout 8 -- sleep 1000
	sentence "did not end" err
	no_qemu_left
}

interrupted_by() {               # interrupted_by SIGNAL STATUS. Perl, because a shell's background job ignores SIGINT
	local pid rc=0
	rm -f out
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$run" -- \
		sh -c 'trap "echo statistics; exit 9" INT TERM; echo started; while :; do sleep 0.1; done' >out 2>err &
	pid=$!
	await out started
	kill -s "$1" $pid
	wait $pid || rc=$?
	[ $rc = "$2" ] || { cat err; fail "$1: status $rc, not $2"; }
	grep -q statistics out || fail "$1 did not reach the command"
	no_qemu_left
}

check_interrupts() {
	interrupted_by INT 130
	interrupted_by TERM 143
	expect 143 timeout --preserve-status 9 "$run" -- sh -c 'trap "" INT TERM; sleep 1000'
	no_qemu_left
	[ -z "$(ls -d "$TMPDIR"/rdma-lab-* 2>/dev/null)" ] || fail "the run directory is still there"
}

check_killed_lab() {
	"$run" -- sh -c 'echo started; sleep 1000' >out 2>err &
	await out started
	kill -KILL $!
	no_qemu_left
}

check_killed_qemu() {
	local rc=0 pid
	"$run" -- sh -c 'echo started; sleep 1000' >out 2>err &
	pid=$!
	await out started
	# shellcheck disable=SC2046
	kill -KILL $(ours)
	wait $pid || rc=$?
	[ $rc = 125 ] || fail "status $rc, not 125"
	sentence "QEMU was killed" err
}

check_guest_panic() {
	expect 125 "$run" --console console -- sh -c 'echo c >/proc/sysrq-trigger; sleep 60'
	sentence "kernel panicked" err
	grep -q '^lab: | .*sysrq' err || fail "the console's tail is missing"
	grep -q 'Kernel panic' console || fail "--console did not save the log"
}

# The first machine gets a kernel that finds no program to start.
check_panic_while_booting() {
	local qemu
	qemu=$(command -v qemu-system-x86_64)
	mkdir bin
	cat >bin/qemu-system-x86_64 <<-EOF
		#!/bin/bash
		if mkdir "$PWD/panicked" 2>/dev/null; then set -- "\${@/quiet/rdinit=/none init=/none}"; fi
		exec $qemu "\$@"
	EOF
	chmod +x bin/qemu-system-x86_64
	expect 3 env PATH="$PWD/bin:$PATH" "$run" -- sh -c 'echo ran; exit 3'
	[ -d panicked ] || fail "no machine panicked"
	[ "$(cat out)" = ran ] || fail "the command did not run once"
}

check_reader_leaves() {
	"$run" -- yes | head -n 1 >out || true
	[ "$(cat out)" = y ] || fail "no output"
	no_qemu_left
}

check_two_at_once() {
	local a b ra=0 rb=0
	"$run" -- sh -c 'sleep 1; echo a; exit 3' >a 2>err & a=$!
	"$run" -- sh -c 'sleep 1; echo b; exit 4' >b 2>err & b=$!
	wait $a || ra=$?
	wait $b || rb=$?
	[ "$ra$rb$(cat a b | tr -d '\n')" = 34ab ] || { cat err; fail "$ra $rb $(cat a b)"; }
}

# rping from the guest to itself over one device, IPv4 and IPv6; and there is no other device
both_families() {                # both_families OPTION VARIABLE THE_OTHER
	expect 0 "$run" "$1" -- sh -c 'env; ibv_devices; for a in $LAB_'"$2"'_ADDR $LAB_'"$2"'_ADDR6; do
			rping -s -a $a -C 5 & server=$!
			until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
			rping -c -a $a -C 5 || exit 1
			wait $server || exit 2; echo done; done'
	[ "$(grep -cx 'done' out)" = 2 ] || fail "rping"
	! grep -qE "$3" out || fail "$1 has the other device"
}

check_roce() { both_families --roce ROCE 'siw0|IWARP'; }
check_iwarp() { both_families --iwarp IWARP 'rxe0|ROCE'; }

# TCP connections that are closed at once do not end a soft-iWARP listener: see patch_early_end and
# patch_accept in lib/siw.sh.
check_early_leavers() {
	expect 0 "$run" --iwarp -- bash -c 'rping -s -a $LAB_IWARP_ADDR -C 5 & server=$!
		until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
		for n in {1..100}; do : <>/dev/tcp/$LAB_IWARP_ADDR/7174 || exit 1; done
		timeout 15 rping -c -a $LAB_IWARP_ADDR -C 5 && wait $server'
}

# The commands for two hosts. Host 1 serves on each address of $1, and tells host 2 over TCP when it listens, because
# rping hangs if it is refused. Host 2 connects to each, and then tells host 1 that it is done.
server='for a in $0; do rping -s -P -a $a & done
	until [ $(rdma resource show cm_id | grep -c LISTEN) = $(echo $0 | wc -w) ]; do sleep 0.1; done
	busybox nc -l -p 1111; busybox nc -l -p 2222; echo served'
client='set -- $0
	until busybox nc $1 1111 </dev/null 2>/dev/null; do sleep 0.1; done
	for a; do timeout 15 rping -c -a $a -C 5 || timeout 15 rping -c -a $a -C 5 || exit 1; done
	until busybox nc $1 2222 </dev/null 2>/dev/null; do sleep 0.1; done; echo host $LAB_HOST; exit 5'

check_two_hosts() {
	local addresses='192.0.2.1 198.51.100.1 2001:db8:1::1 2001:db8:2::1'
	expect 5 "$run" --hosts 2 -- sh -c "$server" "$addresses" ::: sh -c "$client" "$addresses"
	grep -qx '1| served' out && grep -qx '2| host 2' out || { cat out err; fail "an exchange failed"; }
	no_qemu_left
}

check_bad_link() {
	expect 5 "$run" --hosts 2 --roce --delay 20 --loss 0.5 --capture link.pcap --no-prefix -- \
		sh -c "tc qdisc show dev roce0; $server" 192.0.2.1 ::: sh -c "$client" 192.0.2.1
	grep -q 'netem.*delay 20ms.*loss 0.5%' out || { cat out; fail "no netem"; }
	command -v tcpdump >/dev/null || skip "tcpdump is missing"
	[ "$(tcpdump -nr link.pcap udp port 4791 2>/dev/null | wc -l)" -gt 10 ] || fail "no RoCE packets in the capture"
}

check_terminal() {
	command -v script >/dev/null || skip "script is missing"
	local rc=0
	{ for _ in $(seq 60); do sleep 1; printf 'tty; exit 5\r' || exit 0; done; } |
		script -qec "$lab_dir/shell" /dev/null >out 2>&1 || rc=$?
	grep -q /dev/hvc0 out || { cat out; fail "no terminal"; }
	[ $rc = 5 ] || fail "status $rc, not 5"
}

check_scripts() {
	command -v shellcheck >/dev/null || skip "shellcheck is missing"
	(cd "$lab_dir/.." && shellcheck -x lab/run lab/shell lab/test lab/test-*.sh lab/lib/fetch lab/lib/*.sh &&
		shellcheck -s bash lab/guest/exec && shellcheck -s dash lab/guest/init lab/guest/start lab/guest/net)
}
