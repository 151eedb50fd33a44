# what can I do here?
default:
    @just --list --unsorted

# a short session on the bundled skills
demo:
    cargo run --release -- demo

# compile the engine alone, to target/guests/wasm32-wasip2/guest/skillcell_engine.wasm
build-engine:
    cargo build --profile guest --target wasm32-wasip2 --target-dir target/guests -p skillcell-engine

# every test
test:
    cargo test --release

# accept what the server answers now as expected in fixtures/cases
bless:
    BLESS=1 cargo test --release --test it every_golden_case_holds

# measure start, answers, memory and what the sandbox costs
bench:
    cargo bench --bench figures

# everything CI checks, in CI's order
ci: format-check lint test

# is the code formatted?
format-check:
    cargo fmt --all --check

# clippy, with warnings as errors
lint:
    cargo clippy --release --all-targets -- -D warnings
