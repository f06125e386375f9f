# The front door. Everything is built by CMake (see CMakePresets.json); each target here first installs what is missing.
PRESET ?= release
BUILD   = build/$(PRESET)
MAKEFLAGS += --no-print-directory
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all run test test-all build setup setup-test bench bench-check docs format lint install dist deb clean fuzz asan ubsan tsan

all: build

setup:
	@scripts/setup build

setup-test:
	@scripts/setup build test

build: setup
	@cmake --preset $(PRESET) -DQUERN_TESTS=OFF > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)

# The tour: devices, a Mandelbrot picture, filters, the matmul ladder.
run: build
	@$(BUILD)/quern_tour

# Everything that must hold before a change goes in.
test: setup-test
	@scripts/test $(PRESET) $(JOBS)

# The long tests too (hours): all floats through the maths library, long fuzzing.
test-all: test
	@scripts/test-long $(PRESET)

asan ubsan tsan: setup-test
	@scripts/test $@ $(JOBS)

fuzz: setup-test
	@scripts/fuzz

bench: setup-test
	@cmake --preset release > /dev/null
	@cmake --build build/release -j $(JOBS)
	@build/release/quern bench $(BENCH_ARGS)

# `quern check` beside Oclgrind, where that is installed, and the CPU device.
bench-check: setup-test
	@cmake --preset release > /dev/null
	@cmake --build build/release --target quern -j $(JOBS)
	@scripts/bench-check
	@scripts/compare-oclgrind

docs:
	@scripts/docs

format:
	@scripts/format

lint: setup-test
	@scripts/lint

# DESTDIR and PREFIX as usual.
PREFIX ?= /usr/local
install: setup
	@cmake -B build/install -DCMAKE_BUILD_TYPE=Release -DQUERN_TESTS=OFF -DQUERN_EXAMPLES=OFF > /dev/null
	@cmake --build build/install -j $(JOBS)
	@cmake --install build/install --prefix $(PREFIX)

# A source tarball, a vcpkg port and a Homebrew formula of it in build/dist. URL: where the tarball is going to be.
dist:
	@scripts/dist $(URL)

# Debian packages in build/deb.
deb: setup
	@scripts/setup package
	@JOBS=$(JOBS) scripts/deb

clean:
	@rm -rf build
