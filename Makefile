# SPDX-License-Identifier: BSD-3-Clause
# People's way to Meson: each target installs what it needs (as root) or says what is missing.

BUILD ?= build
# Where to install; without it, where the build was set up for, which is /usr/local at first. DESTDIR goes in front.
PREFIX ?=
AT = $(if $(PREFIX),--prefix=$(PREFIX))

all: build

setup:
	@scripts/need build

# scripts/check sets the build up with the same options.
configured: setup
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) -Dhardening=true -Dlto=true $(AT)

build: configured
	@ninja -C $(BUILD)

# Everything that is tested without another machine: gcc, and clang with AddressSanitizer and UndefinedBehaviorSanitizer.
check:
	@scripts/need build check
	@scripts/check

# Both roles against Linux's own NFS/RDMA client and server, in QEMU. JOBS: of those that tests/kernel/check describes; without
# it, all but the longest.
check-kernel: build
	@scripts/need kernel
	@tests/kernel/check $(BUILD) $(JOBS)

# Both roles against RPC-with-TLS of Linux 6.12 and its tlshd, in QEMU. The first run fetches a user space of Debian 13.
check-kernel-tls: build
	@scripts/need kernel
	@tests/kernel/check-tls $(BUILD)

# What `rpcrdma check` finds on Linux's own NFS/RDMA client and server, in QEMU: writes docs/interop.md.
interop: build
	@scripts/need kernel
	@RPCRDMA_INTEROP=1 tests/kernel/check $(BUILD) judge

# Directories in CephFS, on a cluster that runs on the loopback.
check-ceph:
	@scripts/need build ceph
	@# Meson remembers that libcephfs was missing when it set up a build.
	@! test -f $(BUILD)/build.ninja || grep -q vfs/ceph/ceph.c $(BUILD)/build.ninja || meson setup --wipe $(BUILD)
	@$(MAKE) -s build
	@tests/ceph/check $(BUILD)

# 100,000 seeds of NFS copies under faults; RUNS= another number, SEED= another first one.
soak:
	@scripts/need build check
	@scripts/soak $(RUNS) $(SEED)

# Two transports, and the tables of NFS version 4, against models of what they owe: 1,000,000 steps with sanitizers; STEPS= another number, SEED= another
# first seed.
model:
	@scripts/need build check
	@test -f build-sanitize/build.ninja || \
		CC=clang meson setup build-sanitize -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
	@ninja -C build-sanitize tests/model/model tests/server/nfs4/model >/dev/null
	@build-sanitize/tests/model/model -n $(or $(STEPS),1000000) $(SEED)
	@build-sanitize/tests/server/nfs4/model -n $(or $(STEPS),1000000) $(SEED)

# Small changes of the source, each with a test that must fail then (tests/mutations.txt); WORDS= those whose line has one.
mutate:
	@scripts/need build check
	@scripts/mutate . $(WORDS)

# The fuzz targets with AFL++, each for SECONDS= (30); TARGETS= some of them.
fuzz-afl:
	@scripts/need build fuzz
	@scripts/fuzz-afl $(or $(SECONDS),30) $(TARGETS)

# Serves a directory over RDMA, copies a tree out and back in, compares, and shows how the data moved.
demo: configured
	@ninja -C $(BUILD) src/tool/rpcrdma
	@scripts/demo $(BUILD)

# All measurements, RUNS= times, and which targets were met, also in docs/performance.md; fails where one was missed.
bench: build
	@scripts/need bench
	@scripts/bench $(BUILD) $(RUNS)

# Victims over TCP and RDMA, while others take what they can and give nothing back; fails where a victim suffers. It takes
# about an hour. `make attack ARGUMENTS='--count 40 --to rdma CASE'` runs parts of it.
attack: build
	@tests/attack/attack $(BUILD)/src/tool/rpcrdma $(ARGUMENTS)

# Debian packages of what is committed, in INTO= (build-deb).
deb:
	@scripts/need build deb
	@scripts/deb $(or $(INTO),build-deb)

# In bare Debians 12 of their own: the packages are built twice, installed, used, removed; `make install` and `make uninstall`
# likewise. Wants root and the network.
check-install:
	@scripts/need build deb install
	@tests/install/check
	@tests/install/check-source

# In another release of Debian, a bare system of its own: built, tested, made into packages, which are installed and removed. Wants
# root and the network; RELEASE= another one than trixie.
check-release:
	@scripts/need install
	@tests/install/check-release $(or $(RELEASE),trixie)

# The tests of codecs, compiler and bindings on a big-endian machine and on one of 32 bits, emulated; the
# command built with musl. MACHINES= one of s390x, armhf, musl.
check-foreign:
	@scripts/need build foreign
	@tests/foreign/check $(MACHINES)

# What clang-tidy and cppcheck find; FILES= in these alone.
lint:
	@scripts/need build lint
	@scripts/lint $(FILES)

# Which lines the tests execute, folder by folder: build-coverage/coverage/index.html shows each of them.
coverage:
	@scripts/need build check coverage
	@scripts/coverage

# Programs start only once the loader's cache has the library; root updates it, but not for a tree in DESTDIR.
LDCONFIG = [ "$$(id -u)" != 0 ] || [ -n "$(DESTDIR)" ] || ! command -v ldconfig >/dev/null || ldconfig

install: build
	@$(if $(PREFIX),meson configure $(BUILD) $(AT))
	@ninja -C $(BUILD) install
	@$(LDCONFIG)

# What the last `make install` put there, from where that was.
uninstall:
	@ninja -C $(BUILD) uninstall
	@$(LDCONFIG)

clean:
	rm -rf build build-*

.PHONY: all setup configured build check check-kernel check-kernel-tls interop check-ceph model mutate fuzz-afl soak attack demo bench deb check-install \
	check-release check-foreign lint coverage install uninstall clean
