# list the recipes
default:
    @just --list --unsorted

# run a short session on the bundled skills
demo:
    cargo run --release -- demo

# compile the engine alone, to target/guests/wasm32-wasip2/guest/skillcell_engine.wasm
build-engine:
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p skillcell-engine

# compile the script runtimes and the scorers to components, next to the engine
build-plugins:
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p scorer-hybrid
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p scorer-semantic
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p runtime-javascript -p runtime-shell -p scorer-bm25

# run every test
test:
    cargo test --release

# accept the current answers as expected in fixtures/cases and fixtures/adversarial
bless:
    BLESS=1 cargo test --release --test it -- every_golden_case_holds every_case_of_the_corpus

# measure startup, answers, changes, memory, and the cost of the sandbox for the engine and scripts
bench:
    cargo bench --bench figures --bench freshness --bench scorers --bench scripts --bench surface

# measure the memory of the server under attack, and how long another client waits meanwhile
attacks:
    cargo bench --bench attacks

# measure how well each scorer finds the right skill, on held-out questions
eval *ARGUMENTS:
    cargo bench --bench ranking -- {{ARGUMENTS}}

# run the fixture scripts with this machine's interpreters, and compare with the recorded output
outside:
    cargo bench --bench outside

# run every script of checked-out public skills, inside the sandbox and outside, and compare
public +folders:
    cargo bench --bench public -- {{folders}}

# test the server with real clients from npm and PyPI: the MCP suite, the Inspector, the official SDKs
conformance:
    cargo build --release
    tests/conformance/run

# make the packages of this system in target/packages: npm, PyPI, tar, SBOM, provenance, checksums; needs Python
package:
    cargo build --release
    packaging/package

# install every package into a clean folder, and get an answer from it
test-packages:
    cargo build --release
    tests/packages/run

# build an MCP bundle for this system, target/skillcell.mcpb; needs npm
bundle:
    cargo build --release
    packaging/mcpb/bundle

# test the page of `skillcell ui` in a real Chromium
browser:
    cargo build --release
    tests/browser/run

# run the unit tests of the runtimes, built natively
test-plugins:
    cargo test --release -p runtime-javascript -p runtime-shell

# look for inputs that break a promise, guided by coverage; TARGET is a folder of tests/fuzz/corpus. Needs a C++ compiler, and Linux
fuzz TARGET RUNS="1000000":
    mkdir -p target/fuzz/{{TARGET}} target/fuzz/{{TARGET}}-failures
    RUSTC_WORKSPACE_WRAPPER="$PWD/tests/fuzz/instrument" cargo build --release -p skillcell-fuzz --features coverage --bin fuzz
    TMPDIR=/dev/shm FUZZ_TARGET={{TARGET}} target/release/fuzz -runs={{RUNS}} -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix=target/fuzz/{{TARGET}}-failures/ target/fuzz/{{TARGET}} tests/fuzz/corpus/{{TARGET}}

# let every system call of everything that writes fail in every way; `just test` tries a part of them
faults:
    FAULTS=all cargo test --release --test it faults::

# run servers under a mixed load for hours, and fail if an answer is wrong or memory, descriptors, threads or temporary files grow
soak HOURS="1":
    cargo bench --bench soak -- --hours {{HOURS}}

# run everything CI checks, in CI's order
ci: format-check lint test

# check the formatting
format-check:
    cargo fmt --all --check

# run clippy, with warnings as errors
lint:
    cargo clippy --release --all-targets -- -D warnings
