# SPDX-License-Identifier: BSD-3-Clause
# What people do with what is installed in $root, beside a server of /srv/data at port 34917: for bash, to be sourced behind root.sh.

# Whether what the command prints has a line of this kind.
has() { # PATTERN COMMAND...
	local pattern=$1 text
	shift
	text=$(inside "$@")
	echo "$text"
	grep -q "$pattern" <<<"$text"
}

build_programs() {
	cp examples/blob* "$root/tmp/" || return 1
	inside sh -ec 'cd /tmp; rpcrdma xdr blob.x
		for side in server client; do
			cc -Wall -Wextra -Werror -o blob_$side blob_$side.c blob.c $(pkg-config --cflags --libs rpcrdma)
		done'
}

run_programs() {
	inside sh -ec 'cd /tmp; ./blob_server >ports & server=$!
		trap "kill $server" EXIT
		for i in $(seq 300); do [ -s ports ] && break; sleep 0.1; done
		./blob_client rdma $(cut -d" " -f1 ports); ./blob_client tcp $(cut -d" " -f2 ports)'
}

python_reads() {
	cp examples/nfs_read.py "$root/tmp/" || return 1
	inside sh -ec 'PYTHONDONTWRITEBYTECODE=1 python3 /tmp/nfs_read.py nfs://127.0.0.1:34917/ some >/tmp/python'
	cmp "$root/srv/data/some" "$root/tmp/python"
}

# A project of CMake: the target of find_package(), without a path in the program where the loader finds the library, the versions
# that the package is fit for, and those that it is not.
cmake_builds() {
	mkdir -p "$root/tmp/cmake" && cp examples/nfs_get.c "$root/tmp/cmake/" || return 1
	cat >"$root/tmp/cmake/CMakeLists.txt" <<-'end'
		cmake_minimum_required(VERSION 3.13)
		project(nfs_get C)
		find_package(rpcrdma ${WANTED} REQUIRED CONFIG)
		add_executable(nfs_get nfs_get.c)
		target_link_libraries(nfs_get PRIVATE rpcrdma::rpcrdma)
	end
	inside sh -ec 'cd /tmp/cmake
		version=$(pkg-config --modversion rpcrdma)
		for wanted in "" "${version%.*}" "$version" "$version;EXACT"; do
			cmake -S . -B built -DCMAKE_SKIP_RPATH=ON "-DWANTED=$wanted"
		done
		cmake --build built
		for refused in 99 "${version%.*}.99" "${version%%.*}.99"; do
			! cmake -S . -B refused "-DWANTED=$refused" || { echo "version $refused is found"; exit 1; }
		done'
}

cmake_runs() {
	has '^some 3000000$' /tmp/cmake/built/nfs_get nfs://127.0.0.1:34917/
}
