// Other scripts run in the sandbox while this one waits, so a process has ended before its events are emitted.

const EventEmitter = require('events');
const { Buffer } = require('buffer');
const process = require('process');
const { Readable, Writable } = require('stream');
const { run } = native('programs');

function streamOf(stdio, index) {
  const choice = Array.isArray(stdio) ? stdio[index] : stdio;
  return choice ?? 'pipe';
}

function start(command, args, options) {
  const { cwd, env = process.env, input = '', stdio, timeout = 0, shell = false } = options;
  const argv = shell ? [typeof shell === 'string' ? shell : '/bin/sh', '-c', [command, ...args].join(' ')] : [command, ...args];
  if (argv.some((text) => `${text}`.includes('\0'))) {
    throw Object.assign(new TypeError('The arguments must not contain null bytes'), { code: 'ERR_INVALID_ARG_VALUE' });
  }
  const folder = cwd ? require('path').resolve(`${cwd instanceof URL ? cwd.pathname : cwd}`) : process.cwd();
  const variables = Object.entries(env).filter(([, value]) => value !== undefined).flat().map(String);
  const inherits = [1, 2].map((index) => streamOf(stdio, index) === 'inherit');
  const ended = run(argv.map(String), folder, variables, typeof input === 'string' ? input : Buffer.from(input), ...inherits, timeout);
  if (typeof ended === 'string') {
    const error = Object.assign(new Error(`spawnSync ${argv[0]} ${ended}`), {
      errno: ended === 'ENOENT' ? -2 : -11, code: ended, syscall: `spawnSync ${argv[0]}`, path: argv[0], spawnargs: argv.slice(1),
    });
    return { error, status: null, signal: null, stdout: null, stderr: null };
  }
  const [status, ...streams] = ended;
  const [stdout, stderr] = streams.map((bytes, index) => (inherits[index] ? null : Buffer.from(bytes)));
  const result = { status, signal: status === null ? 'SIGTERM' : null, stdout, stderr };
  if (status === null) {
    result.error = Object.assign(new Error(`spawnSync ${argv[0]} ETIMEDOUT`), { errno: -110, code: 'ETIMEDOUT' });
  }
  return result;
}

function decoded(bytes, encoding) {
  return bytes && encoding && encoding !== 'buffer' ? bytes.toString(encoding) : bytes;
}

function settings(args, options) {
  return Array.isArray(args) ? [args, options ?? {}] : [[], args ?? {}];
}

function spawnSync(command, given, more) {
  const [args, options] = settings(given, more);
  const result = start(command, args, options);
  const { encoding } = options;
  const [stdout, stderr] = [decoded(result.stdout, encoding), decoded(result.stderr, encoding)];
  return { pid: 2, output: [null, stdout, stderr], ...result, stdout, stderr };
}

function checked(result, command) {
  if (result.error && result.status === null && !result.stderr) throw Object.assign(result.error, result);
  if (result.status === 0) return result.stdout;
  const detail = result.stderr?.length ? `\n${result.stderr}` : '';
  throw Object.assign(new Error(`Command failed: ${command}${detail}`), result);
}

function execFileSync(file, given, more) {
  const [args, options] = settings(given, more);
  const result = spawnSync(file, args, options);
  // Node shows the errors of a process whose output is taken.
  if (result.stderr?.length && options.stdio === undefined) process.stderr.write(result.stderr);
  return checked(result, [file, ...args].join(' '));
}

function execSync(command, options = {}) {
  const result = spawnSync(command, [], { ...options, shell: options.shell ?? true });
  if (result.stderr?.length && options.stdio === undefined) process.stderr.write(result.stderr);
  return checked(result, command);
}

class ChildProcess extends EventEmitter {
  constructor(command, args, options) {
    super();
    this.pid = 2;
    this.exitCode = this.signalCode = null;
    this.killed = false;
    this.spawnfile = command;
    this.spawnargs = [command, ...args];
    const [stdin, ...out] = [0, 1, 2].map((index) => streamOf(options.stdio, index) === 'pipe');
    const [output, errors] = out.map((piped) => (piped ? new Readable({ read() {} }) : null));
    this.stdout = output;
    this.stderr = errors;
    const chunks = [];
    const launch = () => this.#run(command, args, { ...options, input: Buffer.concat(chunks) });
    this.stdin = stdin ? new Writable({
      write(chunk, encoding, done) {
        chunks.push(Buffer.from(chunk, encoding));
        done();
      },
      final(done) {
        launch();
        done();
      },
    }) : null;
    // A script that writes to standard input does so at once, and one that does not may never end it.
    setImmediate(() => (chunks.length === 0 || !stdin) && launch());
  }

  #started = false;

  #run(command, args, options) {
    if (this.#started) return;
    this.#started = true;
    const result = start(command, args, options);
    setImmediate(() => {
      if (result.status === null && !result.stdout) {
        this.emit('error', Object.assign(result.error, { message: result.error.message.replace('spawnSync', 'spawn'), syscall: `spawn ${command}` }));
        return;
      }
      this.emit('spawn');
      this.exitCode = result.status;
      this.signalCode = result.signal;
      let open = 1;
      const close = () => (open -= 1) === 0 && this.emit('close', result.status, result.signal);
      for (const [stream, bytes] of [[this.stdout, result.stdout], [this.stderr, result.stderr]]) {
        if (!stream) continue;
        open += 1;
        stream.on('end', close);
        if (bytes?.length) stream.push(bytes);
        stream.push(null);
        // What is not read must not keep the process from closing.
        if (stream.listenerCount('data') + stream.listenerCount('readable') === 0) stream.resume();
      }
      this.emit('exit', result.status, result.signal);
      close();
    });
  }

  kill() {
    return false;
  }

  ref() {}

  unref() {}
}

function spawn(command, given, more) {
  const [args, options] = settings(given, more);
  return new ChildProcess(command, args, options);
}

function execFile(file, ...rest) {
  const callback = typeof rest.at(-1) === 'function' ? rest.pop() : () => {};
  const [args, options] = settings(...rest);
  const child = new ChildProcess(file, args, { ...options, stdio: 'pipe' });
  const texts = ['', ''];
  [child.stdout, child.stderr].forEach((stream, index) => {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => (texts[index] = decoded(Buffer.concat(chunks), options.encoding ?? 'utf8')));
  });
  child.on('error', (error) => callback(error, '', ''));
  child.on('close', (code, signal) => {
    const [stdout, stderr] = texts;
    if (code === 0) return callback(null, stdout, stderr);
    const command = options.shell ? file : [file, ...args].join(' ');
    const error = new Error(`Command failed: ${command}\n${stderr}`);
    callback(Object.assign(error, { code, killed: signal !== null, signal, cmd: command }), stdout, stderr);
  });
  return child;
}

function exec(command, ...rest) {
  const callback = typeof rest.at(-1) === 'function' ? rest.pop() : () => {};
  const options = rest[0] ?? {};
  return execFile(command, [], { ...options, shell: options.shell ?? true }, callback);
}

for (const original of [exec, execFile]) {
  const promised = (...values) => new Promise((resolve, reject) => {
    original(...values, (error, stdout, stderr) => (error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr })));
  });
  Object.defineProperty(original, Symbol.for('nodejs.util.promisify.custom'), { value: promised });
}

function fork() {
  const error = new Error('child_process.fork is not available: scripts run in a sandbox in which programs cannot exchange messages');
  throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
}

module.exports = { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
