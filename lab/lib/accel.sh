# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Chooses KVM or emulation. With a /dev/kvm that does not work, guests hang or QEMU aborts. So the lab starts a small
# guest once, for a few seconds, to print a word. It keeps the result in the cache, for this host, its kernel and its QEMU.

probe_seconds=6

kvm_present() { [ -r /dev/kvm ] && [ -w /dev/kvm ]; }

answer_file() {
	printf '%s/accel-%s' "$cache" "$({ uname -nr; "$arch_qemu" --version | head -n 1; } | sha256sum | cut -c 1-16)"
}

# probe_kvm: true if a guest under KVM starts its first process.
probe_kvm() {
	local dir pid out=1
	dir=$(mktemp -d) || return 1
	mkdir -p "$dir/tree/lab" "$dir/tree/dev"
	cp /bin/busybox "$dir/tree/lab/"
	printf '#!/lab/busybox sh\n/lab/busybox mount -t devtmpfs d /dev\necho lab-guest-runs >/dev/%s\n' "$arch_console" \
		>"$dir/tree/init"
	printf '/lab/busybox reboot -f\n' >>"$dir/tree/init"
	chmod +x "$dir/tree/init"
	archive "$dir/tree" >"$dir/initrd"
	setpriv --pdeathsig KILL timeout -s KILL "$probe_seconds" "$arch_qemu" "${arch_machine[@]}" -accel kvm -cpu "$arch_cpu_kvm" \
		-smp 2 -m 512 -nodefaults -no-user-config -display none -no-reboot -serial "file:$dir/console" \
		-kernel "$entry/kernel/image" -initrd "$dir/initrd" -append "$arch_cmdline quiet panic=-1" \
		</dev/null >/dev/null 2>&1 &
	pid=$!
	disown "$pid"                # otherwise the shell reports its death
	while kill -0 "$pid" 2>/dev/null && ! grep -qs lab-guest-runs "$dir/console"; do
		sleep 0.1
	done
	grep -qs lab-guest-runs "$dir/console" && out=0
	kill "$pid" 2>/dev/null || true
	rm -rf "$dir"
	return $out
}

# choose_accel: set accel to kvm or tcg, and accel_why.
choose_accel() {
	local file
	case ${LAB_ACCEL:-} in
	kvm | tcg) accel=$LAB_ACCEL accel_why="LAB_ACCEL says so"; return ;;
	'') ;;
	*) usage_error "LAB_ACCEL is '$LAB_ACCEL', but must be kvm or tcg" ;;
	esac
	if [ "$foreign" = 1 ]; then
		accel=tcg accel_why="the guest's processor is not this machine's"
		return
	fi
	if ! kvm_present; then
		accel=tcg accel_why="no usable /dev/kvm"
		return
	fi
	file=$(answer_file)
	if [ ! -s "$file" ]; then
		say "testing once, for at most $probe_seconds s, whether KVM works here"
		accel=tcg
		! probe_kvm || accel=kvm
		{ echo "$accel" >"$file.$$" && mv "$file.$$" "$file"; } 2>/dev/null || true # the cache may be read-only
	else
		accel=$(cat "$file")
	fi
	accel_why="as a test guest showed; remove $file to test again"
}
