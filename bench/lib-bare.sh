# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Round trip of ping-rc-0 beside ibv_rc_pingpong, polling and with events. Both have a mean over all messages;
# ours leaves out its first 100. RoCE and InfiniBand only.

bare_count=2000

# gid_index: sets gid to the place that the link's IPv4 address has in its device's table.
gid_index() {
	local part wanted=0000:0000:0000:0000:0000:ffff: file found
	IFS=. read -r -a part <<<"$address"
	printf -v wanted '%s%02x%02x:%02x%02x' "$wanted" "${part[@]}"
	for file in "/sys/class/infiniband/$device"/ports/1/gids/*; do
		read -r found <"$file"
		[ "$found" = "$wanted" ] || continue
		gid=${file##*/}
		break
	done
}

# bare_pair PROGRAM: one server, one client; then its mean is a sample.
bare_pair() {
	local program=$1 tries listening mean="" server_pid theirs=() ours=(-q -j -s "$size" -c "$bare_count")
	take_port
	theirs=(ibv_rc_pingpong -d "$device" -g "$gid" -n "$bare_count" -s "$size" -p "$port")
	[[ $program != *events ]] || theirs+=(-e)
	case $program in
	ibv_rc_pingpong*) start server "${theirs[@]}" ;;
	*) start server "$program/server" "${ours[@]}" -a "$address" -p "$port" ;;
	esac
	server_pid=$pid
	printf -v listening ':%04X 00000000:0000 0A' "$port" # as the kernel has a TCP listener on IPv4
	for ((tries = 0; tries < 300; tries++)); do
		! grep -q "$listening" /proc/net/tcp || break
		sleep 0.1
	done
	case $program in
	ibv_rc_pingpong*) start client "${theirs[@]}" "$address" ;;
	*) start client "$program/client" "${ours[@]}" -a "$address" -p "$port" ;;
	esac
	if ! finish "$pid"; then
		end "$server_pid"
		failed "$program on $link" client server
		return 0
	fi
	finish "$server_pid" || failed "$program on $link" client server
	case $program in
	ibv_rc_pingpong*) mean=$(sed -n 's/.* = \([0-9.]*\) usec.iter$/\1/p' "$scratch/client.out") ;;
	*) mean=$(jq '.seconds / .count * 1e6' "$scratch/client.out") ;;
	esac
	sample bare "$program" "{ \"mean_us\": ${mean:-null} }"
}

bare_round() {
	local program gid=
	[ "$link" != iWARP ] || return 0
	gid_index
	[ -n "$gid" ] || die "$link: no GID for $address"
	for program in ibv_rc_pingpong ping-rc-0 "ibv_rc_pingpong with events" build/ping-rc-0-events; do
		bare_pair "$program"
	done
}

# shellcheck disable=SC2016   # $ is jq's
judge_bare='. as $rows | map(
	(if .program | test("events") then "ibv_rc_pingpong with events" else "ibv_rc_pingpong" end) as $peer |
	(.link as $link | $rows[] | select(.link == $link and .program == $peer) | .median) as $base |
	if .program | test("^ibv_rc") then . else . + { peer: $peer, limit: 1,
		ratio: { mean: ratio(.median.mean_us; $base.mean_us) } } |
		.verdict = verdict([["mean", .ratio.mean]]; 1)
	end)'

compare_bare() {
	local round
	for ((round = 1; round <= rounds; round++)); do
		say "bare: round $round of $rounds"
		for_each_link bare_round
	done
	record bare "$judge_bare"
	echo "Mean round trip of $size B (us), bare verbs; x: times its peer's. Medians of $rounds rounds, each of $bare_count messages."
	echo "spread: of the rounds, longest by shortest."
	table bare '%-6s %-28s %10s %6s %6s %6s  %s\n' link program mean spread x target verdict \
		'.link, .program, (.median.mean_us | fixed(2)), (.samples | map(.mean_us) | ratio(max; min) | fixed(2)),
		(.ratio.mean | fixed(3)), (.limit | fixed(2)), .verdict // "(peer)"'
}
