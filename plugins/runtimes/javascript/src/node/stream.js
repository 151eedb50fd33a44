// Minimal streams: everything is in memory, so there is no backpressure.

const EventEmitter = require('events');
const { setImmediate } = require('timers');

function toBuffer(chunk, encoding) {
  const { Buffer } = require('buffer');
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
}

class Stream extends EventEmitter {
  pipe(target, options) {
    this.on('data', (chunk) => target.write(chunk));
    this.on('end', () => {
      if (options?.end !== false && target !== globalThis.process?.stdout && target !== globalThis.process?.stderr) target.end();
    });
    target.emit('pipe', this);
    return target;
  }
}

class Readable extends Stream {
  #queue = [];
  #flowing = false;
  #scheduled = false;
  #encoding;
  #decoder;
  #options;
  #reading = false;

  constructor(options = {}) {
    super();
    this.#options = options;
    this.readable = true;
    this.readableEnded = false;
    this.destroyed = false;
    this.readableObjectMode = options.objectMode === true;
    if (options.encoding) this.setEncoding(options.encoding);
    if (options.read) this._read = options.read;
  }

  static from(source, options) {
    const stream = new Readable({ objectMode: true, ...options });
    const items = typeof source === 'string' || source instanceof Uint8Array ? [source] : source;
    (async () => {
      try {
        for await (const item of items) stream.push(item);
        stream.push(null);
      } catch (error) {
        stream.destroy(error);
      }
    })();
    return stream;
  }

  _read() {}

  setEncoding(encoding) {
    const { StringDecoder } = require('string_decoder');
    this.#encoding = encoding;
    this.#decoder = new StringDecoder(encoding);
    return this;
  }

  push(chunk, encoding) {
    this.#reading = false;
    if (chunk === null) {
      const rest = this.#decoder?.end();
      if (rest) this.#queue.push(rest);
      this.#queue.push(null);
    } else if (this.readableObjectMode) {
      this.#queue.push(this.#decoder && typeof chunk !== 'string' ? this.#decoder.write(chunk) : chunk);
    } else {
      const bytes = toBuffer(chunk, encoding);
      const item = this.#decoder ? this.#decoder.write(bytes) : bytes;
      if (item.length > 0) this.#queue.push(item);
    }
    this.#schedule();
    return true;
  }

  on(name, listener) {
    super.on(name, listener);
    if (name === 'data') this.resume();
    if (name === 'readable') this.#schedule();
    return this;
  }

  resume() {
    this.#flowing = true;
    this.#schedule();
    return this;
  }

  pause() {
    this.#flowing = false;
    return this;
  }

  isPaused() {
    return !this.#flowing;
  }

  read() {
    this.#demand();
    if (this.#queue.length === 0 || this.#queue[0] === null) {
      if (this.#queue[0] === null) this.#finish();
      return null;
    }
    if (this.readableObjectMode) return this.#queue.shift();
    const end = this.#queue.indexOf(null);
    const items = this.#queue.splice(0, end === -1 ? this.#queue.length : end);
    if (end !== -1) this.#schedule();
    return typeof items[0] === 'string' ? items.join('') : require('buffer').Buffer.concat(items);
  }

  #demand() {
    if (this.#queue.length === 0 && !this.#reading && !this.readableEnded && !this.destroyed) {
      this.#reading = true;
      this._read(16384);
    }
  }

  #schedule() {
    if (this.#scheduled || this.destroyed || this.readableEnded) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver() {
    if (!this.#flowing) {
      if (this.listenerCount('readable') > 0 && this.#queue.length > 0) {
        this.emit('readable');
        if (this.#queue[0] === null) this.#finish();
      } else if (this.listenerCount('readable') > 0) {
        this.#demand();
      }
      return;
    }
    while (this.#flowing && !this.destroyed) {
      this.#demand();
      if (this.#queue.length === 0) return;
      const item = this.#queue.shift();
      if (item === null) return void this.#finish();
      this.emit('data', item);
    }
  }

  #finish() {
    if (this.readableEnded) return;
    this.readableEnded = true;
    this.readable = false;
    this.emit('end');
    this.emit('close');
  }

  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.#options.destroy?.call(this, error ?? null, () => {});
    setImmediate(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
    return this;
  }

  async* [Symbol.asyncIterator]() {
    let wake = () => {};
    let failure;
    this.on('error', (error) => {
      failure = error;
      wake();
    });
    this.on('close', () => wake());
    const notice = this.push;
    this.push = (...values) => {
      const result = notice.apply(this, values);
      wake();
      return result;
    };
    for (;;) {
      if (failure) throw failure;
      this.#demand();
      if (this.#queue.length > 0) {
        const item = this.#queue.shift();
        if (item === null) return void this.#finish();
        yield item;
      } else if (this.readableEnded || this.destroyed) {
        if (failure) throw failure;
        if (this.readableEnded || this.#queue.length === 0) {
          await new Promise((resolve) => setImmediate(resolve));
          if (failure) throw failure;
          return;
        }
      } else {
        await new Promise((resolve) => { wake = resolve; });
      }
    }
  }

  async toArray() {
    const items = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

function addWritable(type) {
  Object.assign(type.prototype, {
    _write(chunk, encoding, done) {
      done();
    },
    write(chunk, encoding, callback) {
      if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
      if (this.writableEnded) {
        const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
        this.destroy(error);
        return false;
      }
      this._pending.push([this._objects ? chunk : toBuffer(chunk, encoding), encoding ?? 'buffer', callback]);
      this._advance();
      return true;
    },
    _advance() {
      if (this._busy || this.destroyed) return;
      const next = this._pending.shift();
      if (next === undefined) {
        if (this.writableEnded && !this.writableFinished) this._end();
        return;
      }
      this._busy = true;
      const [chunk, encoding, callback] = next;
      this._write(chunk, encoding, (error) => {
        this._busy = false;
        callback?.(error);
        if (error) this.destroy(error);
        else this._advance();
      });
    },
    _end() {
      this.writableFinished = true;
      const finish = (error) => {
        if (error) return void this.destroy(error);
        setImmediate(() => {
          this.emit('finish');
          if (!(this instanceof Readable)) this.emit('close');
        });
      };
      if (this._final) this._final(finish);
      else finish();
    },
    end(chunk, encoding, callback) {
      const done = [chunk, encoding, callback].find((value) => typeof value === 'function');
      if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.write(chunk, encoding);
      if (done) this.once('finish', done);
      this.writableEnded = true;
      this._advance();
      return this;
    },
    cork() {},
    uncork() {},
    setDefaultEncoding() {
      return this;
    },
  });
}

function prepareWritable(stream, options) {
  for (const [name, value] of Object.entries({ _pending: [], _busy: false, _objects: options.objectMode === true || options.writableObjectMode === true })) {
    Object.defineProperty(stream, name, { value, writable: true });
  }
  Object.assign(stream, { writable: true, writableEnded: false, writableFinished: false });
  if (options.write) stream._write = options.write;
  if (options.final) stream._final = options.final;
}

class Writable extends Stream {
  constructor(options = {}) {
    super();
    this.destroyed = false;
    prepareWritable(this, options);
  }

  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    setImmediate(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
    return this;
  }
}
addWritable(Writable);

class Duplex extends Readable {
  constructor(options = {}) {
    super({ ...options, objectMode: options.objectMode || options.readableObjectMode });
    prepareWritable(this, options);
  }
}
addWritable(Duplex);

class Transform extends Duplex {
  constructor(options = {}) {
    super(options);
    if (options.transform) this._transform = options.transform;
    if (options.flush) this._flush = options.flush;
  }

  _write(chunk, encoding, done) {
    this._transform(chunk, encoding, (error, result) => {
      if (result !== undefined && result !== null) this.push(result);
      done(error);
    });
  }

  _final(done) {
    const finish = (error, result) => {
      if (result !== undefined && result !== null) this.push(result);
      if (!error) this.push(null);
      done(error);
    };
    if (this._flush) this._flush(finish);
    else finish();
  }
}

class PassThrough extends Transform {
  _transform(chunk, encoding, done) {
    done(null, chunk);
  }
}

function finished(stream, options, callback = options) {
  let called = false;
  const done = (error) => {
    if (!called) callback(error);
    called = true;
  };
  stream.on('error', done);
  stream.on('finish', () => done());
  stream.on('end', () => done());
}

function pipeline(...parts) {
  const callback = typeof parts.at(-1) === 'function' && parts.length > 2 && !parts.at(-1).constructor.name.includes('Generator') ? parts.pop() : () => {};
  const streams = parts.flat().map((part, index) => (index === 0 && typeof part.pipe !== 'function' ? Readable.from(part) : part));
  let result = streams[0];
  let called = false;
  const done = (error) => {
    if (!called) callback(error);
    called = true;
  };
  for (const next of streams.slice(1)) {
    result.on('error', done);
    // The streams of the process never finish.
    if (next.fd === 1 || next.fd === 2) result.on('end', () => queueMicrotask(done));
    result = typeof next === 'function' ? Readable.from(next(result)) : result.pipe(next);
  }
  result.on('error', done);
  result.on('finish', () => done());
  if (!result.write) result.on('end', () => done());
  return result;
}

module.exports = Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline,
});
Object.defineProperty(Stream, 'promises', { enumerable: true, configurable: true, get: () => require('stream/promises') });
