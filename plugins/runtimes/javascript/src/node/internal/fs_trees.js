// Recursive file operations.

const fs = require('fs');
const { dirname, join } = require('path');

function refuse(code, number, meaning, path) {
  return Object.assign(new Error(`${code}: ${meaning}, cp '${path}'`), { errno: -number, code, syscall: 'cp', path });
}

function cp(from, to, options = {}) {
  if (options.filter && !options.filter(from, to)) return;
  if (!fs.statSync(from).isDirectory()) {
    if (options.force === false && fs.existsSync(to)) {
      if (options.errorOnExist) throw refuse('ERR_FS_CP_EEXIST', 17, 'target already exists', to);
      return;
    }
    fs.mkdirSync(dirname(to), { recursive: true });
    fs.copyFileSync(from, to);
    return;
  }
  if (!options.recursive) throw refuse('ERR_FS_EISDIR', 21, 'recursive option not enabled, cannot copy a directory', from);
  fs.mkdirSync(to, { recursive: true });
  for (const name of fs.readdirSync(from)) cp(join(from, name), join(to, name), options);
}

function opendir(path) {
  const entries = fs.readdirSync(path, { withFileTypes: true });
  return {
    path,
    readSync: () => entries.shift() ?? null,
    read: async () => entries.shift() ?? null,
    closeSync() {},
    async close() {},
    async* [Symbol.asyncIterator]() {
      yield* entries;
    },
  };
}

module.exports = { cp, opendir };
