// `console` as a module, and consoles that write to other streams.

const { formatWithOptions } = require('internal/format');

class Console {
  constructor(output, errors) {
    const streams = output && output.stdout ? output : { stdout: output, stderr: errors };
    const out = (...values) => void streams.stdout.write(formatWithOptions({}, ...values) + '\n');
    const err = (...values) => void (streams.stderr ?? streams.stdout).write(formatWithOptions({}, ...values) + '\n');
    Object.assign(this, { log: out, info: out, debug: out, error: err, warn: err, trace: err });
  }
}

const shared = globalThis.console;
shared.Console = Console;
module.exports = shared;
