// Constant values: the sandbox reveals nothing about the machine.

const os = {
  EOL: '\n',
  devNull: '/dev/null',
  arch: () => 'wasm32',
  availableParallelism: () => 1,
  cpus: () => [],
  endianness: () => 'LE',
  freemem: () => 268435456,
  totalmem: () => 536870912,
  homedir: () => require('process').env.HOME ?? '/tmp',
  hostname: () => 'localhost',
  loadavg: () => [0, 0, 0],
  machine: () => 'wasm32',
  networkInterfaces: () => ({}),
  platform: () => 'linux',
  release: () => '6.0.0',
  tmpdir: () => require('process').env.TMPDIR ?? '/tmp',
  type: () => 'Linux',
  uptime: () => require('process').uptime(),
  userInfo: () => ({ uid: 0, gid: 0, username: 'skill', homedir: os.homedir(), shell: null }),
  version: () => 'sandbox',
  constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }, errno: {} },
};

module.exports = os;
