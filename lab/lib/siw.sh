# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: builds the soft-iWARP module, which Debian's kernel leaves out, from Debian's source and headers
# of the very same version, in the cache's temporary directory and with no package installed.

siw_packages() {
	local headers=linux-headers-$kernel_release series
	series=$(printf '%s' "$kernel_version" | cut -d. -f1,2)
	printf '%s=%s\n' "$headers" "$kernel_version" "linux-source-$series" "$kernel_version"
	local name
	for name in $(depends "$headers=$kernel_version" '^linux-(headers|kbuild)-'); do
		case $name in
		linux-headers-*) printf '%s=%s\n' "$name" "$kernel_version" ;;
		*) printf '%s\n' "$name" ;;
		esac
	done
}

# The headers' makefiles name each other by absolute path: point them into where we unpacked them.
relocate_headers() {
	sed -i "s,/usr/src/,$work/root/usr/src/,g" "$work/root/usr/src/linux-headers-$kernel_release/Makefile"
}

# A message that comes when siw_accept has answered the client, but has not yet told the socket whom to call, is not
# seen before more comes (docs/pitfalls.md). So once that is done, look for what has come. Where the source is another,
# it stays as it is.
mend_siw() {
	local function='/^int siw_accept(/,/^}/' call='rv = siw_cm_upcall(cep, IW_CM_EVENT_ESTABLISHED, 0);'
	if [ "$(sed -n "$function p" "$1" | grep -cF "$call")" != 1 ]; then
		say "this siw is not one we know: a connection's first message may be overlooked (docs/pitfalls.md)"
		return
	fi
	sed -i -e "$function s/^\(\t*\)$call\$/&\n\1lab_look_once(cep->sock->sk);/" \
		-e 's/^int siw_accept(/static void lab_look_once(struct sock *sk)\n{\n\tlock_sock(sk);\n'\
'\tlocal_bh_disable();\n\tsk->sk_data_ready(sk);\n\tlocal_bh_enable();\n\trelease_sock(sk);\n}\n\n&/' "$1"
}

build_siw() {
	local build=$work/root/usr/src/linux-headers-$kernel_release source=$1 cc
	cc=$(sed -n 's/^CC *=.*\(gcc-[0-9]*\)$/\1/p' "$build/.kernelvariables" 2>/dev/null)
	command -v "${cc:=gcc}" >/dev/null || cc=gcc
	need "$cc" gcc
	need make make
	make -C "$build" M="$source" CONFIG_RDMA_SIW=m CC="$cc" -j"$(nproc)" modules >"$work/siw.log" 2>&1
}

make_siw() {
	local packages tarball source
	mapfile -t packages < <(siw_packages)
	kernel_release=${kernel_release:?}
	fetch_packages "what soft-iWARP is built from" "${packages[@]}" || return 1
	say "building the siw module"
	relocate_headers
	tarball=$(echo "$work"/root/usr/src/linux-source-*.tar.xz)
	tar -C "$work" --wildcards -xf "$tarball" '*/drivers/infiniband/sw/siw/*' || trouble "cannot unpack the kernel's source"
	source=$(echo "$work"/linux-source-*/drivers/infiniband/sw/siw)
	mend_siw "$source/siw_cm.c"
	if ! build_siw "$source" || [ ! -f "$source/siw.ko" ]; then
		tail -n 15 "$work/siw.log" >&2 || true
		trouble "the siw module does not build (see above); lab/run --roce does without"
	fi
	mkdir -p "$work/siw-mended/tree/lab"
	strip --strip-debug -o "$work/siw-mended/tree/lab/siw.ko" "$source/siw.ko"
	archive "$work/siw-mended/tree" >"$work/siw-mended/siw.cpio" || trouble "cannot write the siw module"
	rm -rf "$work/siw-mended/tree"
	publish siw-mended
}
