# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lab/test: the checks of --kernel, and those that make a step of filling the cache fail. Each has a cache of its
# own. The functions that all checks use are in test-checks.sh and test-cache.sh.
# shellcheck disable=SC2016   # what is in single quotes is for the shell in the guest

kernel_package() {               # download the default kernel's package as kernel.deb; sets release
	unset LAB_KERNEL LAB_SOURCES
	own_cache
	release=$(cat "$entry/kernel/release")
	local version=${entry##*_}
	apt-get -qq -o APT::Sandbox::User= download "linux-image-$release=$version" 2>apt.log ||
		skip "apt: $(tail -n 1 apt.log)"
	mv linux-image-*.deb kernel.deb
}

kernel_directory() {             # the same, unpacked: kernel/bzImage and kernel/lib/modules/RELEASE
	kernel_package
	dpkg -x kernel.deb unpacked
	mkdir kernel
	mv unpacked/boot/vmlinuz-* kernel/bzImage
	mv unpacked/lib kernel/lib 2>/dev/null || mv unpacked/usr/lib kernel/lib
	rm -rf unpacked kernel.deb
	modules=kernel/lib/modules/$release
}

# A tree as if that kernel had been built in it, with the modules that the lab needs and siw's source, but no siw.ko.
kernel_tree() {
	local file
	kernel_directory
	mkdir -p tree/{arch/x86/boot,include/config,drivers/infiniband/sw/siw}
	mv kernel/bzImage tree/arch/x86/boot/
	echo "$release" >tree/include/config/kernel.release
	sed -n '/^CONFIG_/p' "$lab_dir/kernel.config" >tree/.config
	cp "$modules/modules.builtin" tree/
	for file in udp_tunnel ip6_udp_tunnel ib_core ib_uverbs ib_cm iw_cm rdma_cm rdma_ucm rdma_rxe crc32_generic \
		crc32c_generic libcrc32c dummy virtio{,_pci,_ring,_console} virtio_pci_{modern,legacy}_dev 9p 9pnet{,_virtio} \
		netfs fscache virtio-rng configfs; do
		file=$(find "$modules" -name "$file.ko*")
		[ -n "$file" ] || continue
		case $file in
		*.xz) xz -dc "$file" >"tree/$(basename "${file%.xz}")" ;;
		*) cp "$file" tree/ ;;
		esac
	done
	(cd tree && printf '%s\n' *.ko | sed 's/ko$/o/' >modules.order)
	echo 'int siw_accept(void);' >tree/drivers/infiniband/sw/siw/siw_cm.c
}

# broken PROGRAM [WHEN]: replace the program by one that fails with a message if its arguments contain WHEN.
broken() {
	mkdir -p fake
	printf '#!/bin/sh\ncase "$*" in *"%s"*) echo "%s: it is broken" >&2; exit 1;; esac\nexec %s "$@"\n' \
		"${2-}" "$1" "$(PATH=$PATH:/usr/sbin:/sbin command -v "$1")" >"fake/$1"
	chmod +x "fake/$1"
}

# reason PROGRAM SENTENCE OPTION...: the lab must fail because of that program, show its message, and end with the
# sentence.
reason() {
	local program=$1 want=$2
	shift 2
	PATH=$PWD/fake:$PATH expect 125 "$run" "$@" -- true
	grep -q "^lab: | $program: it is broken" err || { cat err; fail "what $program said is missing"; }
	tail -n 1 err | grep -q "^lab: $want" || { cat err; fail "the last line is not about '$want'"; }
	[ -z "$(ls -d "$XDG_CACHE_HOME"/rdma-lab/*/tmp.* 2>/dev/null)" ] || fail "left a temporary directory"
	rm -r fake
}

check_kernel_unknown() {
	no_network
	export XDG_CACHE_HOME=$PWD/empty
	expect 125 "$run" --kernel 9.99 -- true
	sentence "apt knows no kernel 9.99" err
	expect 125 "$run" --kernel "$PWD" -- true
	sentence "no kernel in $PWD" err
	mkdir bad
	cp /bin/busybox bad/bzImage
	echo nonsense >apt.sources
	expect 125 "$run" --kernel bad -- true
	sentence "not a kernel" err
	expect 125 "$run" --sources "$lab_dir/sources/bookworm-backports.sources" -- true
	expect 125 "$run" --kernel 9.99 --sources "$PWD/apt.sources" -- true
	sentence "apt knows no kernel 9.99" err
	grep -q '^lab: | E: ' err || { cat err; fail "what apt said is missing"; }
	[ -z "$(ls -d empty/rdma-lab/*/kernels 2>/dev/null)" ] || fail "something was cached"
}

# A kernel that is in the cache is also found by its version, even offline; and this does not change the default.
check_kernel_version() {
	unset LAB_KERNEL LAB_SOURCES
	own_cache
	no_network
	local release
	release=$(cat "$entry/kernel/release")
	expect 0 "$run" --kernel "$release" -- uname -r
	[ "$(cat out)" = "$release" ] || fail "not $release: $(cat out)"
	LAB_KERNEL=$release expect 0 "$run" --list
	grep -q "^kernel  *$release " out || { cat out; fail "--list has another kernel"; }
	grep -qx " *--kernel $release" out && grep -qx ' *--kernel default' out || { cat out; fail "--list does not say how"; }
	expect 0 "$run" -- true
	[ ! -s err ] || { cat err; fail "the default is not silent any more"; }
}

# The keyring has another key: apt refuses the archive, and the lab says which keyring is missing.
check_missing_key() {
	export XDG_CACHE_HOME=$PWD/empty
	local key=/usr/share/keyrings/debian-archive-removed-keys.gpg
	[ -r $key ] || skip "there is no $key"
	sed "s,Signed-By:.*,Signed-By: $key," "$lab_dir/sources/bookworm-backports.sources" >other.sources
	expect 125 "$run" --sources other.sources -- true
	sentence "key of the archive is missing" err
	grep -q '^lab: | ' err || { cat err; fail "what apt said is missing"; }
}

check_kernel_deb() {
	kernel_package
	no_network
	expect 0 "$run" --kernel kernel.deb --roce -- uname -r
	[ "$(cat out)" = "$release" ] || fail "not $release: $(cat out)"
	expect 0 "$run" --kernel ./kernel.deb --roce -- true
	[ ! -s err ] || { cat err; fail "the second time is not silent"; }
	expect 125 "$run" --kernel kernel.deb -- true
	sentence "no linux-headers-$release" err
	rm kernel.deb
	expect 0 "$run" --fetch
	[ -z "$(ls -d cache/rdma-lab/*/kernels/*path* 2>/dev/null)" ] || fail "the entry of a file that has gone is there"
	echo nonsense >kernel.deb
	expect 125 "$run" --kernel kernel.deb --roce -- true
	sentence "cannot unpack .*kernel.deb" err
}

check_kernel_directory() {
	kernel_directory
	no_network
	expect 0 "$run" --kernel kernel --roce -- uname -r
	[ "$(cat out)" = "$release" ] || fail "not $release: $(cat out)"
	LAB_KERNEL=$PWD/kernel expect 0 "$run" --roce -- true
	[ ! -s err ] || { cat err; fail "the second time is not silent"; }
	touch "$(find kernel -name 'rdma_rxe.ko*')"
	expect 0 "$run" --kernel kernel --roce -- true
	sentence "reading the kernel $release" err
	expect 0 "$run" --kernel kernel --roce -- true
	[ ! -s err ] || { cat err; fail "it is read again, unchanged"; }
	[ "$(find cache/rdma-lab/*/kernels -mindepth 1 -maxdepth 1 -name '*path*' | wc -l)" = 2 ] || fail "not two entries"
	mv "$modules" kernel/lib/modules/other
	expect 125 "$run" --kernel kernel --roce -- true
	sentence "of release $release" err
}

# The source of siw in this tree does not compile. If the tree has a module, that is used.
check_kernel_tree() {
	kernel_tree
	no_network
	expect 0 "$run" --kernel tree --roce -- uname -r
	[ "$(cat out)" = "$release" ] || fail "not $release: $(cat out)"
	expect 125 "$run" --kernel tree -- true
	grep -q '^lab: | ' err && sentence "siw module does not build" err
	rm tree/drivers/infiniband/sw/siw/*
	expect 125 "$run" --kernel tree -- true
	sentence "neither siw nor its source" err
	cpio -i --quiet --to-stdout lab/siw.ko ./lab/siw.ko <"$entry/siw/siw.cpio" >tree/siw.ko
	echo siw.o >>tree/modules.order
	expect 0 "$run" --kernel tree -- sh -c 'ibv_devices | grep siw0'
	expect 0 "$run" --kernel tree --list
	grep -q "^kernel .*siw is the kernel's own" out || { cat out; fail "--list says something else of siw"; }
	sed -i /CONFIG_9P_FS/d tree/.config
	expect 125 "$run" --kernel tree -- true
	sentence "lacks CONFIG_9P_FS=m" err
}

check_siw_of_directory() {
	kernel_directory
	expect 0 "$run" --kernel kernel -- sh -c 'ibv_devices | grep siw0'
	expect 0 "$run" --kernel kernel --list
	grep -q "^kernel .*siw built from Debian's source" out || { cat out; fail "--list says something else of siw"; }
}

check_reasons() {
	kernel_package
	broken apt-get
	XDG_CACHE_HOME=$PWD/empty reason apt-get "apt knows no\|cannot download"
	broken dpkg -x
	reason dpkg "cannot unpack .*kernel.deb" --kernel kernel.deb
	for program in depmod modprobe cpio; do
		broken $program
		reason $program "cannot make the initramfs" --kernel kernel.deb
	done
	if dpkg --fsys-tarfile kernel.deb | tar t | grep -c '\.ko\.xz$' >/dev/null; then
		broken xz
		reason xz "cannot unpack the kernel\|cannot make the initramfs" --kernel kernel.deb
	fi
	broken zstd
	broken xz
	reason '[a-z]*' "cannot unpack the kernel" --kernel kernel.deb
}

check_reasons_siw() {
	unset LAB_KERNEL LAB_SOURCES
	own_cache
	local part=$entry/siw
	rm -r "$part"
	broken tar linux-source
	reason tar "cannot unpack the kernel's source"
	broken make
	reason make "the siw module does not build"
	broken strip
	reason strip "cannot strip the siw module"
	expect 0 "$run" --roce -- true
}
