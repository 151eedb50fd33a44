// Files as streams. They are read as a whole, since there is no background I/O.

const fs = require('fs');
const { setImmediate } = require('timers');
const { Readable, Writable } = require('stream');

exports.createReadStream = (path, options) => {
  const settings = typeof options === 'string' ? { encoding: options } : options ?? {};
  const stream = new Readable({ encoding: settings.encoding, autoStart: true });
  stream.path = path;
  setImmediate(() => {
    try {
      const bytes = settings.fd !== undefined ? fs.readFileSync(settings.fd) : fs.readFileSync(path);
      const part = bytes.subarray(settings.start ?? 0, settings.end === undefined ? undefined : settings.end + 1);
      const size = settings.highWaterMark ?? 65536;
      stream.emit('open', 3);
      for (let i = 0; i < part.length; i += size) stream.push(part.subarray(i, i + size));
      stream.push(null);
    } catch (error) {
      stream.destroy(error);
    }
  });
  return stream;
};

exports.createWriteStream = (path, options) => {
  const settings = typeof options === 'string' ? { encoding: options } : options ?? {};
  let fd = settings.fd;
  const stream = new Writable({
    write(chunk, encoding, done) {
      try {
        fs.writeSync(fd, chunk);
        stream.bytesWritten += chunk.length;
        done();
      } catch (error) {
        done(error);
      }
    },
    final(done) {
      fs.closeSync(fd);
      done();
    },
  });
  stream.path = path;
  stream.bytesWritten = 0;
  try {
    fd ??= fs.openSync(path, settings.flags ?? 'w');
    setImmediate(() => stream.emit('open', fd));
  } catch (error) {
    setImmediate(() => stream.destroy(error));
  }
  return stream;
};
