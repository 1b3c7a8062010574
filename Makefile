# make help lists the targets. Plural is built without cgo; only the race
# detector of `make test` needs it, and with it a C compiler (gcc).

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT   := $(shell git rev-parse HEAD 2>/dev/null)
# Of the last commit: the same commit makes the same archives.
RELEASE_TIME := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# Where tests need packages of npm, exactly those of the lock file.
WEB          := internal/explorer/web
NPM_PROJECTS := internal/openapi/thirdparty client/ts client/ra-data-plural $(WEB)
# The library with the binary, and the tools: modules of their own, so that nobody who imports the library gets what they need.
TOOLS    := tools/soak tools/bench tools/lint tools/make tools/monitoring
FUZZTIME ?= 30s

# Of make test-repeat.
COUNT    ?= 30
# Of make test-properties.
CHECKS   ?= 1000
# Directories; without any, all packages of all modules.
PACKAGES ?=
LOAD     ?= 2
BENCH    ?= .

# Of make bench: bin/bench -help lists them. bin/bench growth -help, bin/bench check -help.
BENCHFLAGS ?=
# Of make bench-check: the commit to compare with. Empty: the last tag, or recordedBase in tools/bench/check.go.
BASE       ?=

# Of make soak: how often at least, and for how long at most.
KILLS    ?= 200
CUTS     ?= 50
WRITES   ?= 100000
# The same of nodes on PostgreSQL.
NODE_KILLS  ?= 10
NODE_PAUSES ?= 5
STOPS       ?= 3
RESTARTS    ?= 5
DISCONNECTS ?= 50
FAILOVERS   ?= 2
# Retention, migrations and restores with subscribers, on each database.
FEED_RESETS ?= 3
DURATION ?= 30m
SEED     ?=

# SQLite is C translated to Go, and the race detector on every one of its
# memory accesses makes it about fifty times slower. We look for races in our
# code and in the driver, so that one package goes without: about six times.
# So does the validator of JSON Schema, which judges every answer of the interface tests, and Go's own
# parser and type checker, with which a test looks at all of the code for other platforms.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/santhosh-tekuri/jsonschema/v6/...=-race=false -gcflags=go/...=-race=false

# As it is released. One recipe sets it to 1, for the race detector.
export CGO_ENABLED := 0
GIVEN_FLAGS := $(shell go env GOFLAGS)
ifneq ($(filter -race -race=true,$(GIVEN_FLAGS)),)
$(error GOFLAGS has -race, which needs cgo, and everything else is compiled without it: leave -race out. make test uses the race detector for the concurrent tests, and make test-concurrent runs only these)
endif
# What is compiled does not depend on the directory then: another clone finds it in the build cache.
export GOFLAGS := $(GIVEN_FLAGS) -trimpath

# Node trusts a list of its own, and not what the system trusts, as all else here does.
SYSTEM_CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
ifneq ($(SYSTEM_CERTIFICATES),)
export NODE_EXTRA_CA_CERTS ?= $(SYSTEM_CERTIFICATES)
endif

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: ## Start the server on 127.0.0.1:8080 with the example schema
	go run ./cmd/plural serve

.PHONY: build
build: ## Build bin/plural, a static binary
	go build -ldflags '-X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/plural ./cmd/plural

# Programs of ours that the targets below run.
.PHONY: make-tools
make-tools:
	@go build -C tools/make -o ../../bin/ ./...

.PHONY: release
release: make-tools ## Build dist: static binaries for Linux, macOS and Windows in archives, and their checksums
	bin/release -version '$(VERSION)' -commit '$(COMMIT)' -time '$(RELEASE_TIME)' -out dist

.PHONY: setup
setup: packages $(NPM_PROJECTS:%=%/node_modules/.package-lock.json) ## Install what the tests need, if it is missing: PostgreSQL server programs, PgBouncer, nginx, curl, gcc, fusermount3, Node and its packages, Chromium

# npm writes this file when it is done. --prefer-offline: packages in npm's cache are used without asking the registry. Their
# checksums are in the lock file.
%/node_modules/.package-lock.json: %/package-lock.json | packages
	npm --prefix $* ci --prefer-offline --no-audit --no-fund --fetch-retries=5
	@touch $@

.PHONY: packages
packages:
	@missing=; \
	if [ -z "$${PLURAL_TEST_POSTGRES:-}$${PLURAL_PG_BIN:-}" ] && ! command -v initdb >/dev/null && \
		! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then missing=postgresql; fi; \
	for program in curl:curl nginx:nginx-light pgbouncer:pgbouncer; do \
		if ! PATH=$$PATH:/usr/sbin command -v "$${program%:*}" >/dev/null; then missing="$$missing $${program#*:}"; fi; \
	done; \
	cc=($$(go env CC)); if ! command -v "$${cc[0]}" >/dev/null; then missing="$$missing gcc libc6-dev"; fi; \
	if [ "$$(id -u)" != 0 ] && ! command -v fusermount3 >/dev/null; then missing="$$missing fuse3"; fi; \
	if ! command -v node >/dev/null || ! command -v npm >/dev/null; then missing="$$missing nodejs npm"; fi; \
	if [ ! -x "$${CHROMIUM:-/usr/bin/chromium-headless-shell}" ] && [ ! -x /usr/bin/chromium ]; then missing="$$missing chromium-headless-shell"; fi; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	sudo=; if [ "$$(id -u)" != 0 ]; then sudo=sudo; fi; \
	if ! command -v apt-get >/dev/null || { [ -n "$$sudo" ] && ! command -v sudo >/dev/null; }; then \
		echo "The tests need what Debian calls:" $$missing >&2; \
		echo "Install it, or set PLURAL_PG_BIN to the directory of PostgreSQL's initdb and postgres," >&2; \
		echo "or PLURAL_TEST_POSTGRES to the URL of a running server, and CHROMIUM to a Chromium. No C compiler: make test-fast." >&2; \
		exit 1; \
	fi; \
	set -x; \
	$$sudo apt-get update -q; \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

.PHONY: fmt
fmt: ## Format the code
	for module in . $(TOOLS); do go fmt -C $$module ./...; done

.PHONY: lint
lint: ## Check the format, go vet, staticcheck, gosec
	@unformatted=$$(find . -name '*.go' -not -path './.*' -not -path '*/node_modules/*' -exec gofmt -l {} +); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi >&2
	go build -C tools/lint -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	for module in . $(TOOLS); do (set -x; cd $$module; go vet ./...; GOGC=400 $(CURDIR)/bin/staticcheck ./...); done
	GOGC=400 go run -C tools/lint ./gosec ../..

# Ends a test that hangs, on any machine.
HUNG   := -timeout 30m
# Nothing from the test cache: it does not know of PostgreSQL. go vet is part of lint. No debugger reads these binaries, and the
# linker takes about a third of its time to write for one (-s).
ONCE   := -count=1 -vet=off -ldflags=-s $(HUNG)
# A process with the race detector waits a second before it exits, for races at the exit. The tests run hundreds of processes.
export GORACE ?= atexit_sleep_ms=0

# Property tests draw the same cases in each run: CI must not fail by chance. test-properties draws others, and so does RAPID_SEED=0.
test test-concurrent test-sequential test-tools test-unit: export RAPID_SEED ?= 1

# What the jobs of make test share, before they start: a go command does not wait for what another one is compiling, so that on a machine
# with an empty build cache each would compile SQLite and much else. It takes about a second when nothing has changed. Errors are
# reported by the jobs as well, so that make test goes on.
.PHONY: compile
compile:
	@for module in . $(TOOLS); do go list -C $$module -export -test ./... >/dev/null; done

# Four at a time, to keep two processors busy: some of these wait for most of the time. The crash tests come first: they take
# longest and wait most. chrt --batch: on Linux, a process that wakes up does not interrupt a running one. That saves a third of the
# context switches.
BATCH := $(shell chrt --batch 0 true 2>/dev/null && echo chrt --batch 0)
.PHONY: test
test: packages ## Everything CI runs: setup, lint, all tests, the concurrent ones with the race detector
	@$(in-memory); (set -x; $(MAKE) --keep-going --jobs=2 compile setup || true; $(BATCH) $(MAKE) --keep-going --jobs=4 test-tools test-concurrent lint test-sequential test-web)

# Temporary files in memory, where there are 4 GiB for them and programs may run: most are databases that have to survive nothing.
# Of PostgreSQL, one data directory is made there, and copied for each server.
define in-memory
shm=$$(mktemp -d /dev/shm/plural-XXXXXX 2>/dev/null) && trap 'rm -rf "$$shm"' EXIT && chmod 1777 "$$shm" && \
	[ "$$(df --output=avail -B 1G "$$shm" | tail -n 1)" -ge 4 ] && cp "$$(type -P true)" "$$shm" && "$$shm/true" && export TMPDIR=$$shm PLURAL_PG_TEMPLATE=$$shm/postgres || true
endef

# go test runs the packages of the library in this order, the longest first. Begun last, one would run alone at the end, on one
# processor.
LIBRARY := ./internal/interfacetest ./cmd/plural ./internal/store ./internal/openapi/... ./...

# Each Go test runs once: with the race detector if several goroutines run at once in it, else without. There the race detector
# finds nothing in four times the time. tools/make/concurrent tells them apart by what they do: there is no list of names. Those that
# run the server as another process go without it as well, and with them the tests of tools that do not import the library: what a
# server does at once is tested in its packages.
.PHONY: test-concurrent
test-concurrent: setup make-tools ## The tests in which several things of ours happen at once, with the race detector
	@failed=; for module in $(TOOLS) .; do \
		$(find-concurrent); \
		if [ -n "$$directories" ]; then (set -x; CGO_ENABLED=1 go test -C $$module $(RACE) $(ONCE) -run "$$tests" $$directories) || failed=1; fi; \
	done; [ -z "$$failed" ]

.PHONY: test-sequential test-tools
test-sequential: MODULES := .
# On one processor each, these take a tenth less processor time; the programs that they start may use all. One package more than there
# are processors runs at a time, so that the long ones do not hold up the others.
test-sequential: FLAGS := -cpu=1 -p=$$(($$(getconf _NPROCESSORS_ONLN) + 1))
test-sequential: setup make-tools ## The other tests of the library and the binary
test-tools: MODULES := $(TOOLS)
test-tools: FLAGS :=
test-tools: packages make-tools ## The other tests of the tools: crash tests, tests of the benchmarks
test-sequential test-tools:
	@failed=; for module in $(MODULES); do \
		$(find-concurrent); \
		(set -x; go test -C $$module $(ONCE) $(FLAGS) -skip "$${tests:-^$$}" $$all) || failed=1; \
	done; [ -z "$$failed" ]

# Of a module: the expression that matches the tests for the race detector, and the directories that have some.
define find-concurrent
if [ $$module = . ]; then \
	all="$(LIBRARY)"; packages=$$(go list -f '{{.Dir}}' $$all); \
else \
	all=./...; \
	packages=$$(go list -C $$module -test -f '{{range .Deps}}{{if eq . "github.com/plural-go/plural"}}{{$$.Dir}}{{"\n"}}{{end}}{{end}}' ./... | sort -u | grep . || true); \
fi; \
tests=; directories=; \
if [ -n "$$packages" ]; then \
	found=$$(bin/concurrent -race $$packages); \
	tests=$$(head -n 1 <<< "$$found"); directories=$$(tail -n +2 <<< "$$found"); \
fi
endef

.PHONY: test-properties
test-properties: setup ## Run the property tests with CHECKS new random cases each (1000); make test draws the same 25 or 100 each time
	@failed=; for module in . $(TOOLS); do \
		packages=$$(cd $$module; grep -rl --include='*_test.go' --exclude-dir=node_modules --exclude-dir=tools 'pgregory.net/rapid' . | xargs -r -n1 dirname | sort -u || true); \
		if [ -n "$$packages" ]; then (set -x; go test -C $$module $(ONCE) $$packages -rapid.checks=$(CHECKS)) || failed=1; fi; \
	done; [ -z "$$failed" ]

# LOAD busy loops keep the machine busy meanwhile.
.PHONY: test-repeat
test-repeat: setup make-tools ## Run the tests in which several things happen at once COUNT times (30), in the directories PACKAGES (all), beside LOAD busy loops (2)
	@trap 'kill $$(jobs -p) 2>/dev/null || true' EXIT; \
	for each in $$(seq $(LOAD)); do (while :; do :; done) & done; \
	failed=; while read -r directory tests; do \
		(set -x; go test -C "$$directory" -count=$(COUNT) -timeout 24h -run "$$tests" .) || failed="$$failed $$directory"; \
	done < <(bin/concurrent $(or $(PACKAGES),$$(for module in . $(TOOLS); do go list -C $$module -f '{{.Dir}}' ./...; done))); \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

# Not only what is embedded is tested, but that it is what the source makes.
.PHONY: test-web
test-web: setup ## The explorer: its types and its algebra, the committed build, and the pages in a real browser
	npm --prefix $(WEB) run --silent check
	npm --prefix $(WEB) run --silent test
	@out=$$(mktemp -d); trap 'rm -rf "$$out"' EXIT; OUT=$$out npm --prefix $(WEB) run --silent build >/dev/null; \
	if ! diff -rq "$$out" internal/explorer/dist; then echo "internal/explorer/dist is not what $(WEB) makes: run make web" >&2; exit 1; fi
	go build -ldflags=-s -o bin/mounted ./$(WEB)/e2e/mounted
	go build -ldflags=-s -o bin/postgres-e2e ./$(WEB)/e2e/postgres
	go build -ldflags=-s -o bin/plural-e2e ./cmd/plural
	PLURAL=$(CURDIR)/bin/plural-e2e npm --prefix $(WEB) run --silent e2e

.PHONY: web
web: setup ## Build the explorer and the reference into internal/explorer/dist
	npm --prefix $(WEB) run build

.PHONY: screenshots
screenshots: setup build ## Make the pictures of the explorer in docs/images
	node $(WEB)/e2e/screenshots.mjs docs/images

.PHONY: test-fast
test-fast: ## All tests without the race detector, from the cache where nothing changed
	for module in . $(TOOLS); do go test -C $$module $(HUNG) ./...; done

.PHONY: test-unit
test-unit: ## Tests that need nothing but Go: no PostgreSQL, no Node, no browser
	go test ./schema ./conform ./internal/auth ./internal/fault ./internal/observe ./internal/query

.PHONY: soak
soak: ## Crash the server KILLS times and cut its power CUTS times, with WRITES writes, and make its nodes fail on PostgreSQL, in DURATION
	go build -C tools/soak -o ../../bin/soak ./cmd/soak
	bin/soak -kills $(KILLS) -cuts $(CUTS) -writes $(WRITES) \
		-node-kills $(NODE_KILLS) -node-pauses $(NODE_PAUSES) -stops $(STOPS) -restarts $(RESTARTS) -disconnects $(DISCONNECTS) -failovers $(FAILOVERS) \
		-feed-resets $(FEED_RESETS) -duration $(DURATION) $(if $(SEED),-seed $(SEED))

# go test fuzzes one target at a time, and lists the targets of a package above
# its "ok" line.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s) each
	@targets=$$(go test -list '^Fuzz' ./... | awk '/^Fuzz/ { t[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, t[i]; n = 0 }'); \
	if [ -z "$$targets" ]; then echo "no fuzz targets found" >&2; exit 1; fi; \
	while read -r package target; do \
		(set -x; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"); \
	done <<< "$$targets"

.PHONY: bench-tool
bench-tool:
	go build -C tools/bench -o ../../bin/bench ./cmd/bench

.PHONY: bench
bench: bench-tool ## Measure the server against bare net/http and handlers written by hand, with BENCHFLAGS; bin/bench.md, .json and .svg have the results
	bin/bench -markdown bin/bench.md -json bin/bench.json -svg bin/bench.svg $(BENCHFLAGS)

.PHONY: bench-growth
bench-growth: bench-tool ## Measure what requests cost at several sizes, with BENCHFLAGS; bin/growth.md, .json and .svg have the results
	bin/bench growth -markdown bin/growth.md -json bin/growth.json -svg bin/growth.svg $(BENCHFLAGS)

.PHONY: bench-check
bench-check: bench-tool ## Fail if a request costs over 10 % more processor time than with the commit BASE (the last tag; a recorded commit before the first release), with BENCHFLAGS
	bin/bench check $(if $(BASE),-base '$(BASE)') $(BENCHFLAGS)

.PHONY: bench-streams
bench-streams: bench-tool ## Measure event streams: latency, deliveries, memory of idle subscribers, cost for writers, with BENCHFLAGS
	bin/bench streams $(BENCHFLAGS)

.PHONY: bench-waits
bench-waits: bench-tool ## Measure how long small writes wait beside large ones on SQLite, with BENCHFLAGS
	bin/bench waits $(BENCHFLAGS)

.PHONY: benchmarks
benchmarks: ## Run the Go benchmarks that match BENCH (all)
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: clean
clean: ## Remove what was built; the data (plural.db) stays
	rm -rf bin dist
	rm -f *.out *.prof *.test
