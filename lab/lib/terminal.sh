# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# lab/shell's terminal. The guest has a terminal of its own (hvc0); the caller's passes on every byte and its size. The
# caller's settings are always restored.

saved_tty=

terminal_size() { stty size </dev/tty 2>/dev/null || echo 24 80; }

enter_terminal() {
	saved_tty=$(stty -g </dev/tty) || die "lab/shell needs a terminal"
	stty raw -echo </dev/tty
	setpriv --pdeathsig KILL cat </dev/tty >"$run/1/tty.in" &
	feeders+=($!)
	setpriv --pdeathsig KILL cat <"$run/1/tty.out" >/dev/tty &
	helpers+=($!)
	trap 'tell 1 "WINCH $(terminal_size)"' WINCH
}

leave_terminal() {
	[ -z "$saved_tty" ] || stty "$saved_tty" </dev/tty 2>/dev/null || true
	saved_tty=
}
