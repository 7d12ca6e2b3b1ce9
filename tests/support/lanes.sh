# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by tests that are scripts: runs several tests at the same time, because many of them mostly wait.
# Uses tests/support/tap.sh.
# shellcheck disable=SC2034,SC2154 # port, limit, scratch and so on are of tap.sh
lanes=() # process ids; the first lane is number 0
stride=1000 # ports from one lane to the next

# be_a_lane NUMBER COMMAND...: give this subshell files and ports of its own.
be_a_lane() {
	port=$((port + stride * ($1 + 1)))
	stride=$((stride / 10))
	scratch=$scratch/lane$1
	tap=$scratch.tap
	tests=0 failed=0 server='' started=() lanes=()
	trap finish EXIT
	mkdir "$scratch"
	: >"$tap"
	"${@:2}"
	echo complete >>"$tap"
}

# beside COMMAND...: run tests in the background, at the same time as those that follow, with files and
# ports of their own. Call gather before the end.
beside() {
	(be_a_lane ${#lanes[@]} "$@") &
	lanes+=("$!")
	started+=("$!")
}

# give_way: lower the priority of a lane that mostly waits, because programs that poll while they wait
# would take the processors from the others.
give_way() {
	renice -n 5 $BASHPID >/dev/null
	limit=$((2 * limit)) patience=$((2 * patience))
}

# gather: wait for the tests that beside has started, and add their results.
gather() {
	local number line
	for number in "${!lanes[@]}"; do
		wait "${lanes[number]}" || :
		line=''
		while read -r line && [ "$line" != complete ]; do
			[[ $line =~ ^(ok|not ok)\ [0-9]+\ -\ (.*) ]]
			result "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >/dev/null # it was printed already
		done <"$scratch/lane$number.tap"
		[ "$line" = complete ] || result "not ok" "${FUNCNAME[1]}: lane $number ended early"
	done
	lanes=()
}
