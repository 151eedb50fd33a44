# what can I do here?
default:
    @just --list --unsorted

# a short session on the bundled skills
demo:
    cargo run --release -- demo

# compile the engine alone, to target/guests/wasm32-wasip2/guest/skillcell_engine.wasm
build-engine:
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p skillcell-engine

# compile the runtimes for scripts and the scorers to components, beside the engine
build-plugins:
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p scorer-hybrid
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p runtime-javascript -p runtime-shell -p scorer-bm25

# every test
test:
    cargo test --release

# accept what the server answers now as expected in fixtures/cases
bless:
    BLESS=1 cargo test --release --test it every_golden_case_holds

# measure start, answers, changes, memory, and what the sandbox costs the engine and scripts
bench:
    cargo bench --bench figures --bench freshness --bench scorers --bench scripts --bench surface

# measure how well each scorer finds the right skill, on questions that nobody tuned on
eval:
    cargo bench --bench ranking

# run the scripts of the fixtures with the interpreters of this machine, and compare with what is recorded
outside:
    cargo bench --bench outside

# real clients from npm and PyPI on the real server: the MCP suite, the Inspector, the official SDKs
conformance:
    cargo build --release
    tests/conformance/run

# an MCP bundle of the release build for this system, target/skillcell.mcpb; needs npm
bundle:
    cargo build --release
    packaging/mcpb/bundle

# the page of `skillcell ui` in a real Chromium
browser:
    cargo build --release
    tests/browser/run

# the unit tests of the runtimes, built for this machine
test-plugins:
    cargo test --release -p runtime-javascript -p runtime-shell

# try many more random calls against the file system of scripts
fuzz:
    PROPTEST_CASES=20000 cargo test --release -p skillcell --lib sandbox::files

# everything CI checks, in CI's order
ci: format-check lint test

# is the code formatted?
format-check:
    cargo fmt --all --check

# clippy, with warnings as errors
lint:
    cargo clippy --release --all-targets -- -D warnings
