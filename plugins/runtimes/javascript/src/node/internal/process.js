// Rarely used parts of `process`.

const host = native('process');
const EventEmitter = require('events');
const process = require('process');

const rest = {
  versions: { node: '22.0.0', v8: '12.4.254.14', modules: '127' },
  release: { name: 'node', lts: 'Jod' },
  features: {},
  config: {},
  allowedNodeEnvironmentFlags: new Set(),
  reallyExit: (code) => host.exit(code),
  abort: () => host.exit(134),
  uptime: () => host.nanoseconds() / 1e9,
  memoryUsage: Object.assign(() => ({ rss: 67108864, heapTotal: 33554432, heapUsed: 16777216, external: 1048576, arrayBuffers: 0 }), { rss: () => 67108864 }),
  cpuUsage: () => ({ user: Math.round(host.nanoseconds() / 1e3), system: 0 }),
  resourceUsage: () => ({ userCPUTime: Math.round(host.nanoseconds() / 1e3), systemCPUTime: 0, maxRSS: 65536 }),
  hrtime: Object.assign((since) => {
    const now = host.nanoseconds();
    const time = since ? now - (since[0] * 1e9 + since[1]) : now;
    return [Math.floor(time / 1e9), Math.floor(time % 1e9)];
  }, { bigint: () => BigInt(Math.floor(host.nanoseconds())) }),
  umask: () => 0o022,
  getuid: () => 0,
  geteuid: () => 0,
  getgid: () => 0,
  getegid: () => 0,
  kill() {
    throw new Error('process.kill is not available: scripts run in a sandbox that knows no processes');
  },
  emitWarning(warning, type) {
    const name = typeof type === 'string' ? type : type?.type ?? warning?.name ?? 'Warning';
    host.writeErrors(`(node:1) ${name}: ${warning?.message ?? warning}\n`);
  },
  getBuiltinModule(name) {
    try {
      return require(`${name}`.replace(/^node:/, ''));
    } catch {
      return undefined;
    }
  },
};
for (const name of Object.getOwnPropertyNames(EventEmitter.prototype)) {
  if (name !== 'constructor') rest[name] = EventEmitter.prototype[name];
}

host.listen(
  (code) => {
    if (code === 0) code = Number(process.exitCode) || 0;
    process.emit('exit', code);
    return code !== 0 && process.exitCode === undefined ? code : Number(process.exitCode) || 0;
  },
  (error, origin) => {
    if (origin === 'unhandledRejection' && process.listenerCount('unhandledRejection') > 0) {
      return process.emit('unhandledRejection', error, Promise.resolve());
    }
    return process.emit('uncaughtException', error, origin);
  },
);

module.exports = rest;
