# SPDX-License-Identifier: BSD-3-Clause
# A bare Debian of its own in $root, and results in the Test Anything Protocol: for bash, to be sourced.
work=$(mktemp -d)
root=$work/root
number=0 failures=0
alone= # in front of a command: in a network of its own

result() { # STATUS NAME [FILE]
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		[ -z "${3-}" ] || tail -20 "$3" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

try() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$work/log" 2>&1
	result $? "$name" "$work/log"
}

inside() { (become "$@"); }

# Takes the place of the shell, so that a signal reaches the command.
become() { exec $alone chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

# A clone of what is committed, so that what asks git for an answer has it, where those who take on other users can go.
root_clone() {
	inside sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git' &&
		git bundle create "$root/usr/src/rpcrdma.bundle" HEAD &&
		inside git clone -q /usr/src/rpcrdma.bundle /usr/src/rpcrdma
}

# From now on commands run in a network that has a loopback alone: there, nobody else has a port.
root_alone() {
	ip netns add "rpcrdma-$$" && ip -n "rpcrdma-$$" link set lo up && alone="ip netns exec rpcrdma-$$"
}

# What is mounted there is another's: nothing of it is removed.
root_remove() {
	local mounted
	for mounted in run/netns dev/pts dev/shm proc .; do
		umount "$root/$mounted" 2>/dev/null
	done
	[ -z "$alone" ] || ip netns del "rpcrdma-$$"
	rm -rf --one-file-system "$work"
}
