# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: builds the soft-iWARP module (siw) for a kernel without one, such as Debian's: from Debian's source
# and headers of the same version, or from the tree in which the kernel was built. It is built in the cache's temporary
# directory, and no package is installed.

# siw_headers: find the package of the kernel's headers; sets kernel_version if it is not known yet.
siw_headers() {
	local headers=linux-headers-$kernel_release
	if [ -z "$kernel_version" ]; then
		kernel_version=$(candidate "$headers") || return 1
	fi
	[ -n "$(apt_query show "$headers=$kernel_version")" ]
}

siw_packages() {
	local headers=linux-headers-$kernel_release series name
	series=$(printf '%s' "$kernel_version" | cut -d. -f1,2)
	printf '%s=%s\n' "$headers" "$kernel_version" "linux-source-$series" "$kernel_version"
	for name in $(depends '^linux-(headers|kbuild)-' "$headers=$kernel_version"); do
		case $name in
		linux-headers-*) printf '%s=%s\n' "$name" "$kernel_version" ;;
		*) printf '%s\n' "$name$own_arch" ;;
		esac
	done
}

# The headers' makefiles name each other by absolute path: change that to where they were unpacked.
relocate_headers() {
	logged sed -i "s,/usr/src/,$work/root/usr/src/,g" "$1/Makefile" || trouble "the kernel's headers are not as expected"
}

# lend_libraries: the kbuild tools of a newer release may need a newer C library than this host has. Such tools get the
# libraries of their own release. False if something could not be downloaded.
lend_libraries() {
	local tools tool packages loader path kbuild
	mapfile -t tools < <(find "$work"/root/usr/lib/linux-kbuild-* -type f -perm -100 \
		-exec sh -c 'ldd "$1" 2>&1 | grep -q "not found"' - {} \; -print)
	[ "${#tools[@]}" != 0 ] || return 0
	kbuild=$(depends '^linux-kbuild-' "linux-headers-$kernel_release=$kernel_version")
	mapfile -t packages < <(depends '^z?lib' "$kbuild")
	mapfile -t packages < <({ printf '%s\n' "${packages[@]}"; depends '^z?lib' "${packages[@]}"; } | sort -u)
	fetch_packages "the libraries of that release, for its tools" "${packages[@]/%/$own_arch}" || return 1
	loader=$(find "$work/root" -name 'ld-linux*.so.*' -type f)
	path=$(dirname "$(find "$work/root" -name libc.so.6)")
	for tool in "${tools[@]}"; do
		mv "$tool" "$tool.lab"
		printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s.lab" "$@"\n' "$loader" "$path" "$tool" >"$tool"
		chmod +x "$tool"
	done
}

# Fixes three faults of the driver, which tests/drivers.md describes. Leaves source that differs unchanged. Whoever changes
# a patch also changes siw_patched in kernel.sh: then the lab builds the modules in its caches again.
patch_siw() {
	patch_first_message "$1"
	patch_early_end "$1"
	patch_accept "$1"
}

# once FILE FUNCTION TEXT FAULT: true if the function has the text once; otherwise say what this siw may do.
once() {
	[ "$(sed -n "$2 p" "$1" | grep -cF "$3")" = 1 ] || {
		say "unknown version of siw, left unchanged: $4 (docs/drivers.md)"
		return 1
	}
}

# A message may arrive after siw_accept has answered the client, and before the socket's callback is set. Then the driver
# does not see it until more data arrives. The patch makes it look as soon as the callback is set.
patch_first_message() {
	local function='/^int siw_accept(/,/^}/' call='rv = siw_cm_upcall(cep, IW_CM_EVENT_ESTABLISHED, 0);'
	once "$1" "$function" "$call" "it may overlook a connection's first message" || return 0
	sed -i -e "$function s/^\(\t*\)$call\$/&\n\1lab_look_once(cep->sock->sk);/" \
		-e 's/^int siw_accept(/static void lab_look_once(struct sock *sk)\n{\n\tlock_sock(sk);\n'\
'\tlocal_bh_disable();\n\tsk->sk_data_ready(sk);\n\tlocal_bh_enable();\n\trelease_sock(sk);\n}\n\n&/' "$1"
}

# Until it is accepted, a TCP connection has the callbacks and the endpoint of its listener. If it ends before that, the
# driver takes this for the end of the listener. The patch ignores it: whoever accepts the connection sees that it ended.
patch_early_end() {
	local function='/^static void siw_cm_llp_state_change(/,/^}/' label='case TCP_CLOSE_WAIT:'
	once "$1" "$function" "$label" "a TCP client that leaves early may end a listener" || return 0
	sed -i "$function s/^\(\t*\)$label\$/&\n\1\tif (cep->state == SIW_EPSTATE_LISTENING)\n\1\t\tbreak;/" "$1"
}

# The driver accepts one connection for each that it is told of, and it is told of no more at a time than the backlog,
# while one more can wait. The patch makes it accept all that wait.
patch_accept() {
	local function='/^static void siw_cm_work_handler(/,/^}/' call='siw_accept_newconn(cep);' waits
	once "$1" "$function" "$call" "a connection may wait until the next one comes" || return 0
	waits='!reqsk_queue_empty(\&inet_csk(cep->sock->sk)->icsk_accept_queue)'
	sed -i "$function s/^\(\t*\)$call\$/\1do\n\1\t$call\n\1while (cep->state == SIW_EPSTATE_LISTENING \&\& $waits);/" "$1"
}

# build_siw BUILD SOURCE: build the module without BTF, which needs another tool and is used only to trace kernels; and with
# this host's compiler, even if it is older than the kernel's.
build_siw() {
	local cc cross='' without=(CONFIG_DEBUG_INFO_BTF_MODULES=)
	[ "$foreign" = 0 ] || cross=$arch_cross
	cc=$(sed -n 's/^CC *=.*\(gcc-[0-9]*\)$/\1/p' "$1/.kernelvariables" 2>/dev/null)
	cc=$cross${cc:-gcc}
	command -v "$cc" >/dev/null || cc=${cross}gcc
	need "$cc" "gcc${cross:+-${cross%-}}"
	need make make
	[[ $2 != *[[:space:]]* ]] || die "siw cannot be built below $cache, which has a space in its name: set XDG_CACHE_HOME"
	"$cc" -fmin-function-alignment=16 -E -x c /dev/null >/dev/null 2>&1 ||
		without+=(CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=)
	say "building the siw module"
	if ! logged make -C "$1" M="$2" ARCH="$arch_kbuild" CROSS_COMPILE="$cross" CONFIG_RDMA_SIW=m "${without[@]}" CC="$cc" \
		-j"$(nproc)" modules ||
		[ ! -f "$2/siw.ko" ]; then
		trouble "the siw module does not build; lab/run --roce does without"
	fi
}

# publish_siw FILE ORIGIN: FILE is the module, or empty if the driver is built into the kernel.
publish_siw() {
	mkdir -p "$work/siw/tree/lab"
	local strip=strip
	[ "$foreign" = 0 ] || strip=${arch_cross}strip
	[ -z "$1" ] || logged "$strip" --strip-debug -o "$work/siw/tree/lab/siw.ko" "$1" || trouble "cannot strip the siw module"
	printf '%s\n' "$2" >"$work/siw/origin"
	printf '%s\n' "$siw_patched" >"$work/siw/mended"
	archive "$work/siw/tree" >"$work/siw/siw.cpio" 2>"$work/log" || trouble "cannot write the siw module"
	rm -rf "$work/siw/tree"
	publish siw
}

# siw_from_debian: build it from Debian's source. False if something could not be downloaded.
siw_from_debian() {
	local packages tarball source build=$work/root/usr/src/linux-headers-$kernel_release
	mapfile -t packages < <(siw_packages)
	fetch_packages "what soft-iWARP is built from" "${packages[@]}" || return 1
	lend_libraries || return 1
	relocate_headers "$build"
	tarball=$(echo "$work"/root/usr/src/linux-source-*.tar.xz)
	logged tar -C "$work" --wildcards -xf "$tarball" '*/drivers/infiniband/sw/siw/*' ||
		trouble "cannot unpack the kernel's source"
	source=$(echo "$work"/linux-source-*/drivers/infiniband/sw/siw)
	patch_siw "$source/siw_cm.c"
	build_siw "$build" "$source"
	publish_siw "$source/siw.ko" "siw built from Debian's source"
}

siw_from_tree() {                # siw_from_tree TREE: build from a copy of its source, so that nothing is written there
	siw_source "$1" || return 1
	cp -r "$REPLY" "$work/siw-source"
	find "$work/siw-source" ! -name '*.[ch]' ! -name Makefile ! -name Kconfig -type f -delete
	patch_siw "$work/siw-source/siw_cm.c"
	build_siw "$1" "$work/siw-source"
	publish_siw "$work/siw-source/siw.ko" "siw built from its source"
}
