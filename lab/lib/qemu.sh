# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One virtual machine: its run directory, its QEMU command line, its start and its end. VM n lives in $run/n.
# Ports of the guest: 1 stdout, 2 stderr, 3 control, 4 stdin, console hvc0 for lab/shell.

# prepare_vm N: write the files that the guest reads, and make the pipes.
prepare_vm() {
	local dir=$run/$1 tree=$run/$1/tree name
	mkdir -p "$tree/lab/guest"
	: >"$tree/lab/shares"
	cp "$lab_dir/guest/init" "$tree/init"
	cp "$lab_dir"/guest/{start,net,exec} "$lab_dir/lib/relay" "$tree/lab/guest/"
	guest_config "$1" >"$tree/lab/config"
	guest_environment >"$tree/lab/env"
	[ "${#shares[@]}" = 0 ] || printf '%s\n' "${shares[@]}" >"$tree/lab/shares"
	if [ "$1" = 1 ]; then
		printf '%s\0' "$PWD" "$cwd" "${command1[@]}"
	else
		printf '%s\0' "$PWD" "$cwd" "${command2[@]}"
	fi >"$tree/lab/argv"
	run_initramfs "$tree" "$dir/initrd" || die "cannot write to $run: disk full?"
	rm -rf "$tree"
	for name in out err ctl in tty; do
		mkfifo "$dir/$name.in" "$dir/$name.out"
	done
}

guest_config() {
	local name=lab
	[ "$hosts" = 1 ] || name=lab$1
	printf '%s\n' "LAB_HOSTNAME=$name" "LAB_HOSTS=$hosts" "LAB_HOST=$1" "LAB_ROCE=$want_roce" "LAB_IWARP=$want_iwarp" \
		"LAB_TTY=$tty" "LAB_STDIN=$stdin" "LAB_MARK=$mark" "LAB_NETEM='$netem'"
	[ "$tty" = 0 ] || terminal_size | sed 's/\(.*\) \(.*\)/LAB_SIZE="rows \1 cols \2"/'
}

# The command's environment: a few of the caller's variables, those of --env, and those that describe the lab.
guest_environment() {
	local name
	for name in LANG LANGUAGE LC_ALL TERM TZ "${!LC_@}"; do
		[ -z "${!name:-}" ] || printf '%s\0' "$name=${!name}"
	done
	printf '%s\0' "PATH=$caller_path:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" LAB_GUEST=1 USER=root \
		LOGNAME=root SHELL=/bin/bash HOME=/run/lab/home ${env_pairs[@]+"${env_pairs[@]}"}
}

share() {                        # share TAG DIR OPTIONS: add a 9p directory to qemu_args
	qemu_args+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

port() {                         # port NAME NUMBER N
	qemu_args+=(-chardev "pipe,id=$1,path=$run/$3/$1" -device "virtserialport,bus=ser.0,nr=$2,chardev=$1")
}

# nic NAME SLOT N: a NIC that is linked to the same NIC of the other VM by datagrams over unix sockets. A stream would be
# delayed by Nagle's algorithm.
nic() {
	local here=$run/$1.$3 there=$run/$1.$((3 - $3))
	qemu_args+=(-netdev "dgram,id=$1,local.type=unix,local.path=$here,remote.type=unix,remote.path=$there"
		-device "virtio-net-pci,netdev=$1,addr=$2,romfile=,mac=02:00:00:00:$2:0$3")
	[ -z "$capture" ] || [ "$3" = 2 ] ||
		qemu_args+=(-object "filter-dump,id=dump-$1,netdev=$1,file=$run/$1.pcap,maxlen=65535")
}

# shellcheck disable=SC2054   # QEMU's options have commas
vm_arguments() {                 # vm_arguments N: set qemu_args
	local dir=$run/$1 i cpu=$arch_cpu_tcg accel_option=tcg,thread=multi
	[ "$accel" = tcg ] || { cpu=$arch_cpu_kvm accel_option=kvm; }
	qemu_args=("${arch_machine[@]}" -accel "$accel_option" -cpu "$cpu" -smp "$cpus" -m "$memory" -name "lab$1"
		-nodefaults -no-user-config -display none -no-reboot -kernel "$entry/kernel/image" -initrd "$dir/initrd"
		-append "$arch_cmdline quiet panic=-1 oops=panic log_buf_len=4M" -serial "file:$dir/console"
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng
		-device virtio-serial-pci,id=ser,max_ports=8)
	share root "${guest_root:-/}" ,readonly=on
	for i in "${!shares[@]}"; do
		case ${shares[$i]} in
		rw*) share "share$i" "${shares[$i]#* }" "" ;;
		*) share "share$i" "${shares[$i]#* }" ,readonly=on ;;
		esac
	done
	port out 1 "$1"
	port err 2 "$1"
	port ctl 3 "$1"
	[ "$stdin" = 0 ] || port in 4 "$1"
	[ "$tty" = 0 ] || qemu_args+=(-chardev "pipe,id=tty,path=$dir/tty" -device virtconsole,bus=ser.0,nr=0,chardev=tty)
	[ "$hosts" = 1 ] || [ "$want_roce" = 0 ] || nic roce 10 "$1"
	[ "$hosts" = 1 ] || [ "$want_iwarp" = 0 ] || nic iwarp 11 "$1"
}

# start_vm N: start QEMU in a session of its own, so that Ctrl-C at the terminal reaches only lab/run. QEMU is killed if
# lab/run dies, even by SIGKILL.
start_vm() {
	vm_arguments "$1"
	setsid setpriv --pdeathsig KILL "$arch_qemu" "${qemu_args[@]}" </dev/null >"$run/$1/qemu.log" 2>&1 &
	qemu_pid[$1]=$!
	disown "${qemu_pid[$1]}"     # otherwise the shell reports its death
}

vm_alive() { kill -0 "${qemu_pid[$1]}" 2>/dev/null; }

stop_vms() {
	local n
	for n in "${!qemu_pid[@]}"; do
		kill -KILL "${qemu_pid[$n]}" 2>/dev/null || true
	done
}
