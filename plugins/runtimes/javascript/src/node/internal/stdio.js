// The standard streams as stream objects. Plain text is written without them.

const host = native('process');
const { Readable, Writable } = require('stream');
const { Buffer } = require('buffer');

function output(fd, writeBytes) {
  const stream = new Writable({
    write(chunk, encoding, done) {
      writeBytes(chunk);
      done();
    },
  });
  const check = (chunk) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      throw Object.assign(new TypeError('The "chunk" argument must be of type string or an instance of Buffer, TypedArray, or DataView.'), { code: 'ERR_INVALID_ARG_TYPE' });
    }
  };
  return Object.assign(stream, {
    fd,
    writeAny(chunk, encoding, callback) {
      check(chunk);
      writeBytes(typeof chunk === 'string' && typeof encoding === 'string' ? Buffer.from(chunk, encoding) : chunk);
      const done = typeof encoding === 'function' ? encoding : callback;
      if (done) require('process').nextTick(done);
      return true;
    },
    // The streams of the process stay open, whatever a script does.
    end(chunk, encoding, callback) {
      if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') stream.writeAny(chunk, encoding);
      const done = [chunk, encoding, callback].find((value) => typeof value === 'function');
      if (done) require('process').nextTick(done);
      return stream;
    },
    destroy: () => stream,
    getColorDepth: () => 1,
    hasColors: () => false,
  });
}

function* input() {
  const bytes = native('descriptors').read(0, 2 ** 32);
  if (bytes.length > 0) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const stdin = Readable.from(input(), { objectMode: false });

module.exports = {
  stdin: Object.assign(stdin, { fd: 0, setRawMode: () => stdin, ref: () => stdin, unref: () => stdin }),
  stdout: output(1, host.writeOutput),
  stderr: output(2, host.writeErrors),
};
