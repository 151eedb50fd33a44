#!/usr/bin/env node
// Starts the program from the package for this platform, with this process's streams, signals and exit code.
"use strict"

const { spawn } = require("node:child_process")
const { optionalDependencies } = require("./package.json")

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"]

function find() {
    const platform = `@skillcell/${process.platform}-${process.arch}`
    const packages = Object.keys(optionalDependencies).filter((name) => name === platform || name.startsWith(`${platform}-`))
    const found = packages.flatMap((name) => {
        try {
            return [{ name, path: require.resolve(`${name}/bin/skillcell`) }]
        } catch {
            return []
        }
    })
    if (found.length > 1) {
        // A package manager that ignores `libc` installed both.
        const libc = process.report.getReport().header.glibcVersionRuntime ? "-gnu" : "-musl"
        return found.find(({ name }) => name.endsWith(libc)).path
    }
    if (found.length === 0) {
        const known = packages.length > 0
        console.error(`error: there is no program for ${process.platform} ${process.arch}`)
        console.error(
            known
                ? `hint: install again with optional dependencies: ${packages.join(" or ")} is missing`
                : "hint: build it with `cargo install --git https://github.com/skillcell/skillcell skillcell`",
        )
        process.exit(2)
    }
    return found[0].path
}

const program = spawn(find(), process.argv.slice(2), { stdio: "inherit" })
for (const signal of SIGNALS) {
    process.on(signal, () => program.kill(signal))
}
program.on("error", (error) => {
    console.error(`error: cannot start ${program.spawnfile}: ${error.message}`)
    process.exit(2)
})
program.on("exit", (code, signal) => {
    if (signal === null) {
        process.exit(code)
    }
    SIGNALS.forEach((name) => process.removeAllListeners(name))
    process.kill(process.pid, signal)
})
