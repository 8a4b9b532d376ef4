# SPDX-License-Identifier: BSD-3-Clause
# The part of this project that a guest builds on a mount: the compiler of the XDR language, and what it makes of each schema.
objects := $(patsubst %.c,%.o,$(wildcard src/xdr/*.c) src/base/env.c)
made := $(patsubst src/ulb/%.x,out/%.c,$(wildcard src/ulb/*.x))

all: $(made)

xdrgen: $(objects)
	gcc -o $@ $^

%.o: %.c
	gcc -std=gnu11 -D_GNU_SOURCE -MMD -Isrc -Iinclude -c -o $@ $<

out/%.c: src/ulb/%.x xdrgen
	mkdir -p out
	./xdrgen $< out/$*

-include $(objects:.o=.d)
