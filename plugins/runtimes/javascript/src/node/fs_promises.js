// File functions with promises.

const fs = require('fs');

class FileHandle {
  constructor(fd) {
    this.fd = fd;
  }

  async read(buffer, ...rest) {
    return { bytesRead: fs.readSync(this.fd, buffer, ...rest), buffer };
  }

  async write(data, ...rest) {
    return { bytesWritten: fs.writeSync(this.fd, data, ...rest), buffer: data };
  }

  async readFile(options) {
    return fs.readFileSync(this.fd, options);
  }

  async writeFile(data, options) {
    fs.writeFileSync(this.fd, data, options);
  }

  async appendFile(data, options) {
    fs.writeFileSync(this.fd, data, options);
  }

  async stat() {
    return fs.fstatSync(this.fd);
  }

  async close() {
    fs.closeSync(this.fd);
  }

  async* readLines() {
    const lines = fs.readFileSync(this.fd, 'utf8').split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    yield* lines;
  }
}

const names = [
  'readFile', 'writeFile', 'appendFile', 'readdir', 'stat', 'lstat', 'mkdir', 'rm', 'rmdir', 'unlink', 'rename', 'copyFile', 'cp',
  'access', 'mkdtemp', 'realpath', 'readlink', 'symlink', 'truncate', 'chmod', 'chown', 'utimes', 'opendir',
];
for (const name of names) {
  const perform = fs[`${name}Sync`];
  exports[name] = { async [name](path, ...rest) {
    return path instanceof FileHandle ? perform(path.fd, ...rest) : perform(path, ...rest);
  } }[name];
}
exports.open = async (path, flags) => new FileHandle(fs.openSync(path, flags ?? 'r'));
exports.constants = fs.constants;
