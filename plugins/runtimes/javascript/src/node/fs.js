// Synchronous file functions, and the callback versions derived from them.

const files = native('files');
const descriptors = native('descriptors');

const constants = {
  F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4, O_RDONLY: 0, O_WRONLY: 1,
  O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 61440, S_IFREG: 32768, S_IFDIR: 16384, S_IFLNK: 40960,
};

function pathOf(path, name = 'path') {
  if (typeof path === 'string') {
    if (path.includes('\0')) throw Object.assign(new TypeError(`The argument '${name}' must be a string without null bytes`), { code: 'ERR_INVALID_ARG_VALUE' });
    return path;
  }
  if (path instanceof Uint8Array) return require('buffer').Buffer.from(path).toString();
  if (path?.protocol === 'file:') return require('url').fileURLToPath(path);
  const shown = path === null || path === undefined ? `${path}` : typeof path === 'object' ? `an instance of ${path.constructor?.name}` : `type ${typeof path} (${String(path)})`;
  throw Object.assign(new TypeError(`The "${name}" argument must be of type string or an instance of Buffer or URL. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
}

function encodingIn(options) {
  return (typeof options === 'string' ? options : options?.encoding) ?? null;
}

function isUtf8(encoding) {
  return /^utf-?8$/i.test(encoding);
}

function toBuffer(bytes) {
  return require('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function contentOf(data, options) {
  if (typeof data === 'string') {
    const encoding = encodingIn(options) ?? 'utf8';
    return isUtf8(encoding) ? data : require('buffer').Buffer.from(data, encoding);
  }
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const shown = data === null || data === undefined ? `${data}` : typeof data === 'object' ? `an instance of ${data.constructor?.name}` : `type ${typeof data} (${String(data)})`;
  throw Object.assign(new TypeError(`The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
}

function flagOf(flags) {
  if (typeof flags !== 'number') return flags ?? 'r';
  const { O_WRONLY, O_RDWR, O_APPEND, O_TRUNC, O_CREAT, O_EXCL } = constants;
  if (flags & O_APPEND) return flags & O_RDWR ? 'a+' : 'a';
  if (flags & O_EXCL) return flags & O_RDWR ? 'wx+' : 'wx';
  if (flags & (O_TRUNC | O_CREAT)) return flags & O_RDWR ? 'w+' : 'w';
  return flags & (O_RDWR | O_WRONLY) ? 'r+' : 'r';
}

class Stats {
  constructor([kind, size, modified, accessed]) {
    const type = { file: constants.S_IFREG, folder: constants.S_IFDIR, link: constants.S_IFLNK }[kind] ?? 0;
    Object.assign(this, {
      dev: 1, mode: type | (kind === 'folder' ? 0o755 : 0o644), nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, ino: 0, size,
      blocks: Math.ceil(size / 512), atimeMs: accessed, mtimeMs: modified, ctimeMs: modified, birthtimeMs: modified,
    });
    for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[name] = new Date(Math.round(this[`${name}Ms`]));
    Object.defineProperty(this, 'kind', { value: kind });
  }
}

class Dirent {
  constructor(name, kind, parentPath) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    Object.defineProperty(this, 'kind', { value: kind });
  }
}

for (const type of [Stats, Dirent]) {
  const tests = { isFile: 'file', isDirectory: 'folder', isSymbolicLink: 'link', isFIFO: '', isSocket: '', isBlockDevice: '', isCharacterDevice: '' };
  for (const [name, kind] of Object.entries(tests)) {
    Object.defineProperty(type.prototype, name, { value() { return this.kind === kind; }, writable: true, configurable: true });
  }
}

function listInto(result, folder, prefix, options) {
  const list = files.list(folder);
  for (let i = 0; i < list.length; i += 2) {
    const [name, kind] = [list[i], list[i + 1]];
    result.push(options.withFileTypes ? new Dirent(name, kind, folder) : prefix + name);
    if (options.recursive && kind === 'folder') listInto(result, join(folder, name), `${prefix}${name}/`, options);
  }
  return result;
}

function join(folder, name) {
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`;
}

function statOf(path, options, follow) {
  if (options?.throwIfNoEntry !== false) return new Stats(files.stat(pathOf(path), follow));
  try {
    return new Stats(files.stat(pathOf(path), follow));
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function fail(code, number, meaning, call, path) {
  return Object.assign(new Error(`${code}: ${meaning}, ${call} '${path}'`), { errno: -number, code, syscall: call, path });
}

const sync = {
  readFile(path, options) {
    const encoding = encodingIn(options);
    if (path === '/dev/stdin') path = 0;
    if (typeof path === 'number') {
      const bytes = toBuffer(descriptors.read(path, 2 ** 32));
      return encoding ? bytes.toString(encoding) : bytes;
    }
    path = pathOf(path);
    if (encoding !== null && isUtf8(encoding)) return files.readText(path);
    const bytes = toBuffer(files.read(path));
    return encoding ? bytes.toString(encoding) : bytes;
  },
  writeFile(path, data, options) {
    if (typeof path === 'number') return void descriptors.write(path, contentOf(data, options));
    files.write(pathOf(path), contentOf(data, options), flagOf(options?.flag ?? 'w'));
  },
  appendFile(path, data, options) {
    if (typeof path === 'number') return void descriptors.write(path, contentOf(data, options));
    files.write(pathOf(path), contentOf(data, options), flagOf(options?.flag ?? 'a'));
  },
  readdir(path, options) {
    return listInto([], pathOf(path), '', typeof options === 'object' && options !== null ? options : {});
  },
  stat: (path, options) => statOf(path, options, true),
  lstat: (path, options) => statOf(path, options, false),
  fstat: (fd) => new Stats(descriptors.stat(fd)),
  mkdir(path, options) {
    return files.makeFolder(pathOf(path), options?.recursive === true);
  },
  rmdir(path, options) {
    if (options?.recursive) files.removeAll(pathOf(path));
    else files.removeFolder(pathOf(path));
  },
  rm(path, options) {
    path = pathOf(path);
    let stats;
    try {
      stats = new Stats(files.stat(path, false));
    } catch (error) {
      if (options?.force && error.code === 'ENOENT') return;
      throw error;
    }
    if (stats.isDirectory() && !options?.recursive) {
      const error = fail('EISDIR', 21, 'is a directory', 'rm', path);
      throw Object.assign(error, { code: 'ERR_FS_EISDIR', name: 'SystemError', message: `Path is a directory: rm returned EISDIR (is a directory) ${path}` });
    }
    files.removeAll(path);
  },
  unlink: (path) => files.removeFile(pathOf(path)),
  rename: (from, to) => files.rename(pathOf(from, 'oldPath'), pathOf(to, 'newPath')),
  copyFile(from, to, mode) {
    to = pathOf(to, 'dest');
    if (mode & constants.COPYFILE_EXCL && files.exists(to)) {
      throw Object.assign(new Error(`EEXIST: file already exists, copyfile '${from}' -> '${to}'`), { errno: -17, code: 'EEXIST', syscall: 'copyfile', path: from, dest: to });
    }
    files.copy(pathOf(from, 'src'), to);
  },
  cp: (from, to, options) => require('internal/fs_trees').cp(pathOf(from, 'src'), pathOf(to, 'dest'), options),
  mkdtemp(prefix) {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    for (;;) {
      let path = pathOf(prefix, 'prefix');
      for (let i = 0; i < 6; i++) path += letters[Math.floor(Math.random() * letters.length)];
      if (files.exists(path)) continue;
      files.makeFolder(path, false);
      return path;
    }
  },
  access(path) {
    path = pathOf(path);
    if (!files.exists(path)) throw fail('ENOENT', 2, 'no such file or directory', 'access', path);
  },
  exists(path) {
    try {
      return files.exists(pathOf(path));
    } catch {
      return false;
    }
  },
  realpath: (path) => files.realPath(pathOf(path)),
  readlink: (path) => files.readLink(pathOf(path)),
  symlink: (target, path) => files.makeLink(pathOf(target, 'target'), pathOf(path)),
  truncate: (path, length = 0) => files.truncate(pathOf(path), length),
  // The sandbox stores neither permissions nor times set by scripts.
  chmod: (path) => sync.access(path),
  utimes: (path) => sync.access(path),
  chown: (path) => sync.access(path),
  open: (path, flags) => descriptors.open(pathOf(path), flagOf(flags)),
  close: (fd) => descriptors.close(fd),
  fsync() {},
  read(fd, buffer, offset, length, position) {
    if (typeof offset === 'object' && offset !== null) ({ offset, length, position } = offset);
    offset ??= 0;
    length ??= buffer.byteLength - offset;
    if (fd === 0) return 0;
    const bytes = descriptors.read(fd, length, typeof position === 'bigint' ? Number(position) : position);
    new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(bytes, offset);
    return bytes.length;
  },
  write(fd, data, offset, length, position) {
    if (typeof data === 'string') return descriptors.write(fd, contentOf(data, length), offset);
    if (typeof offset === 'object' && offset !== null) ({ offset, length, position } = offset);
    offset ??= 0;
    return descriptors.write(fd, contentOf(data).subarray(offset, offset + (length ?? data.byteLength - offset)), position);
  },
  opendir: (path) => require('internal/fs_trees').opendir(pathOf(path)),
};

const fs = { constants, Stats, Dirent, ...constants };
for (const [name, perform] of Object.entries(sync)) {
  fs[`${name}Sync`] = Object.defineProperty(perform, 'name', { value: `${name}Sync` });
  fs[name] = Object.defineProperty((...values) => {
    const callback = values.pop();
    if (typeof callback !== 'function') {
      throw Object.assign(new TypeError('The "cb" argument must be of type function. Received ' + (callback === undefined ? 'undefined' : typeof callback)), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    let results;
    try {
      const value = perform(...values);
      results = name === 'exists' ? [value] : name === 'read' || name === 'write' ? [null, value, values[1]] : [null, value];
    } catch (error) {
      results = [error];
    }
    require('timers').setImmediate(callback, ...results);
  }, 'name', { value: name });
}
fs.realpathSync.native = fs.realpathSync;

for (const name of ['createReadStream', 'createWriteStream']) fs[name] = (...values) => require('internal/fs_streams')[name](...values);

fs.watch = fs.watchFile = () => {
  throw new Error('fs.watch is not available: scripts run in a sandbox that reports no changes');
};

Object.defineProperty(fs, 'promises', { enumerable: true, configurable: true, get: () => require('fs/promises') });

module.exports = fs;
