# make test      install the pinned agents and tools, then run every test under the race detector, and the properties of
#                stops at full length without it
# make examples  run the example evals on the embedded agent: needs nothing but Go. On the real one, with a scripted model:
#                make agents examples EVALTEST_AGENT=claude EVALTEST_GATEWAY=script EVALTEST_CLAUDE=$PWD/.agents/node_modules/.bin/claude
# make lint      formatting, go vet for three systems and with the project's own analyzers, golangci-lint with them, tidy modules
# make agents    install the pinned coding agents into .agents/ (needs Node.js and npm)
# make bench     run the benchmarks
# make soak      run property and kill tests for longer: make soak EVALTEST_SOAK=1h
# make clean     remove what was built and recorded; the agents stay

EVALTEST_SOAK ?= 10m

# Tools come from a module of their own, so that users of the library do not get their dependencies.
TOOLS   := tools/go.mod tools/go.sum
MODULES := $(patsubst ./%/go.mod,%,$(shell find . -path './.?*' -prune -o -path '*/testdata' -prune -o -mindepth 2 -name go.mod -print))

# A developer's own session with an agent must not reach the agents under test. What evals are to do differently, such as
# EVALTEST_STOP, is taken from the tests' environment too: tests set what they test.
unexport $(filter ANTHROPIC_% CLAUDE%,$(.VARIABLES))
CHOSEN := $(filter-out EVALTEST_BENCH EVALTEST_CLAUDE EVALTEST_CODEX EVALTEST_NAMESPACE EVALTEST_SOAK,$(filter EVALTEST_%,$(.VARIABLES)))
CLEAN  := env $(patsubst %,-u %,$(CHOSEN))

.PHONY: test examples lint agents bench soak clean

test: agents bin/gotestsum bin/golangci-lint-evaltest | reports
	$(CLEAN) EVALTEST_REQUIRE_AGENTS=1 bin/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg \
		--junitfile reports/junit.xml --jsonfile reports/test.json -- -race -count=1 -timeout 25m ./...
	$(CLEAN) bin/gotestsum --format pkgname-and-test-fails \
		--junitfile reports/soundness.xml -- -count=1 -timeout 15m -run '^TestSoundness' ./evaltest

examples:
	go test -v -count=1 .

lint: bin/golangci-lint-evaltest bin/evallint
	@files=$$(find . -path './.?*' -prune -o -name '*.go' -print | xargs gofmt -l) && \
		{ test -z "$$files" || { echo "not formatted, run gofmt -w on:"; echo "$$files"; exit 1; }; }
	GOOS=linux go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	go vet -vettool=$(abspath bin/evallint) ./...
	bin/evallint ./...
	bin/golangci-lint-evaltest run ./...
	go mod tidy -diff
	@for m in $(MODULES); do echo "module $$m" && go -C $$m mod tidy -diff && \
		{ test -z "$$(go -C $$m list ./... 2>/dev/null)" || go -C $$m vet ./...; } || exit 1; done

agents:
	@tools/agents/install

bench:
	$(CLEAN) go test -run '^$$' -bench . -benchmem ./...

soak: agents
	$(CLEAN) EVALTEST_REQUIRE_AGENTS=1 EVALTEST_SOAK=$(EVALTEST_SOAK) go test -race -count=1 -timeout 0 ./...

clean:
	rm -rf bin reports .evaltest

bin/gotestsum: $(TOOLS)
	go build -C tools -o ../$@ gotest.tools/gotestsum

bin/golangci-lint: $(TOOLS)
	go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# The project's own linter, alone and as a part of golangci-lint.
LINTER := go.mod go.sum $(shell find lint -name testdata -prune -o -name '*.go' ! -name '*_test.go' -print)

bin/evallint: $(LINTER)
	go build -o $@ ./lint/cmd/evallint

bin/golangci-lint-evaltest: bin/golangci-lint .custom-gcl.yml tools/golangci/build $(LINTER)
	tools/golangci/build bin/golangci-lint

reports:
	@mkdir -p $@ && echo '*' > $@/.gitignore
