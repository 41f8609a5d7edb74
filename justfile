# One recipe a chore. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

[private]
default:
    @just --list --unsorted

# Build the tool: target/release/kubectl-sigapps
build:
    cargo build --release

# Run all tests that need neither a cluster nor a network
test *arguments:
    cargo test --workspace {{ arguments }}

# Check format, lints, licences and sources of dependencies, and shell scripts
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo deny check licenses bans sources
    shellcheck .ci/run .ci/release-check .ci/reproducible completions/kubectl-sigapps.bash completions/kubectl_complete-sigapps
    cd .github/tools && go tool actionlint

# Format all code
fmt:
    cargo fmt --all

# Build the library's documentation; a warning is an error
docs:
    RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --workspace

# Write docs/schema anew from the types of src/report
schema: build
    mkdir -p docs/schema
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" schema report > docs/schema/failure-report.v1alpha1.json
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" schema failure > docs/schema/failure.v1alpha1.json
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" schema explanation > docs/schema/explanation.v1alpha1.json
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" schema restart > docs/schema/restart.v1alpha1.json
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" schema version > docs/schema/version.v1alpha1.json

# Write completions/ anew from the tool
completions: build
    mkdir -p completions
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" completion bash > completions/kubectl-sigapps.bash
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" completion zsh > completions/_kubectl-sigapps
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" completion fish > completions/kubectl-sigapps.fish
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" completion powershell > completions/kubectl-sigapps.ps1
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" completion kubectl > completions/kubectl_complete-sigapps
    chmod +x completions/kubectl_complete-sigapps

# Write the manual pages: one a command, made with each release and kept nowhere
man folder="target/man": build
    "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" man {{ folder }}

# Test against a real control plane; the first time builds it from Go modules (20 minutes)
cluster *arguments: build
    cargo run --release -p cluster-tests -- build
    cargo run --release -p cluster-tests -- run --tool "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" {{ arguments }}

# The same against the oldest Kubernetes that is supported, 1.34; the first time builds it (8 minutes more)
cluster-oldest *arguments: build
    cargo run --release -p cluster-tests -- build --kubernetes oldest
    cargo run --release -p cluster-tests -- run --kubernetes oldest --tool "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" {{ arguments }}

# Compare with the real controllers on random Jobs and JobSets: `just differential 5000 500 --seed 42` sees a run again
differential jobs="5000" jobsets="500" *arguments: build
    cargo run --release -p cluster-tests -- build
    cargo run --release -p cluster-tests -- differential --jobs {{ jobs }} --jobsets {{ jobsets }} --tool "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" {{ arguments }}

# Measure time and memory beside jq and kubectl; see benches/README.md for what it needs
bench *arguments: build
    benches/run --tool "${CARGO_TARGET_DIR:-target}/release/kubectl-sigapps" {{ arguments }}

# Build what is shipped: prints where the binary is
dist target="x86_64-unknown-linux-musl":
    krew/package.py build {{ target }}

# Pack what can be built here into dist/, and install it with krew: `just krew-package 0.1.0 --binary darwin-arm64=PATH`
krew-package version *arguments:
    krew/package.py local {{ version }} {{ arguments }}
    krew/smoke.py {{ version }}

# Build what is shipped twice, in other folders, and compare
reproducible *target:
    .ci/reproducible {{ target }}

# Run all that CI runs
ci:
    .ci/run
