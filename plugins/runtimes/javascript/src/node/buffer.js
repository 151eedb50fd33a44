// Buffer: bytes with encodings.

const { encode, decode, length: lengthOf } = native('encodings');

const names = {
  utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1',
  ascii: 'ascii', utf16le: 'utf16le', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le',
};

function encodingOf(name) {
  if (name === undefined || name === null || name === '') return 'utf8';
  const known = names[`${name}`.toLowerCase()];
  if (known === undefined) throw Object.assign(new TypeError(`Unknown encoding: ${name}`), { code: 'ERR_UNKNOWN_ENCODING' });
  return known;
}

function wrap(bytes) {
  return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function bytesOf(value) {
  return typeof value === 'string' ? Buffer.from(value) : value;
}

class Buffer extends Uint8Array {
  static poolSize = 8192;

  static from(value, encoding, length) {
    if (typeof value === 'string') return wrap(encode(value, encodingOf(encoding)));
    if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer)) {
      return new Buffer(value, encoding, length);
    }
    if (ArrayBuffer.isView(value) || Array.isArray(value)) return wrap(Uint8Array.from(value));
    if (value !== null && typeof value === 'object') {
      if (value.type === 'Buffer' && Array.isArray(value.data)) return Buffer.from(value.data);
      const inner = value.valueOf?.();
      if (inner !== undefined && inner !== value) return Buffer.from(inner, encoding, length);
      if (typeof value.length === 'number') return wrap(Uint8Array.from(value));
    }
    const shown = value === null || value === undefined ? `${value}` : `type ${typeof value} (${String(value)})`;
    throw Object.assign(new TypeError(`The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
  }

  static of(...values) {
    return Buffer.from(values);
  }

  static alloc(size, fill, encoding) {
    const result = new Buffer(size);
    return fill === undefined ? result : result.fill(fill, encoding);
  }

  static allocUnsafe(size) {
    return new Buffer(size);
  }

  static allocUnsafeSlow(size) {
    return new Buffer(size);
  }

  static isBuffer(value) {
    return value instanceof Buffer;
  }

  static isEncoding(name) {
    return `${name}`.toLowerCase() in names;
  }

  static byteLength(value, encoding) {
    if (typeof value !== 'string') return value.byteLength;
    const known = encodingOf(encoding);
    return known === 'utf8' ? lengthOf(value) : encode(value, known).length;
  }

  static concat(list, total = list.reduce((sum, part) => sum + part.length, 0)) {
    const result = Buffer.alloc(total);
    let offset = 0;
    for (const part of list) {
      if (offset >= total) break;
      result.set(part.length > total - offset ? part.subarray(0, total - offset) : part, offset);
      offset += part.length;
    }
    return result;
  }

  static compare(left, right) {
    const shared = Math.min(left.length, right.length);
    for (let i = 0; i < shared; i++) if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
    return Math.sign(left.length - right.length);
  }

  toString(encoding, start = 0, end = this.length) {
    const part = start <= 0 && end >= this.length ? this : this.subarray(Math.max(0, start), Math.max(0, end));
    return decode(part, encodingOf(encoding));
  }

  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  }

  toJSON() {
    return { type: 'Buffer', data: Array.from(this) };
  }

  equals(other) {
    return Buffer.compare(this, other) === 0;
  }

  compare(other, start = 0, end = other.length, ownStart = 0, ownEnd = this.length) {
    return Buffer.compare(this.subarray(ownStart, ownEnd), other.subarray(start, end));
  }

  slice(start, end) {
    return this.subarray(start, end);
  }

  write(text, offset = 0, length = undefined, encoding = undefined) {
    if (typeof offset === 'string') [offset, length, encoding] = [0, undefined, offset];
    else if (typeof length === 'string') [length, encoding] = [undefined, length];
    const bytes = encode(text, encodingOf(encoding));
    const count = Math.min(bytes.length, length ?? Infinity, this.length - offset);
    this.set(bytes.subarray(0, count), offset);
    return count;
  }

  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }

  fill(value, start = 0, end = this.length, encoding = undefined) {
    if (typeof start === 'string') [start, end, encoding] = [0, this.length, start];
    if (typeof value === 'string') value = Buffer.from(value, encoding);
    if (typeof value === 'number') return super.fill(value & 255, start, end);
    if (value.length === 0) return super.fill(0, start, end);
    for (let i = start; i < end; i++) this[i] = value[(i - start) % value.length];
    return this;
  }

  indexOf(value, from = 0, encoding = undefined) {
    if (typeof value === 'number') return super.indexOf(value & 255, from);
    if (typeof from === 'string') [from, encoding] = [0, from];
    const wanted = typeof value === 'string' ? Buffer.from(value, encoding) : value;
    for (let i = from < 0 ? Math.max(0, this.length + from) : from; i <= this.length - wanted.length; i++) {
      let j = 0;
      while (j < wanted.length && this[i + j] === wanted[j]) j += 1;
      if (j === wanted.length) return i;
    }
    return -1;
  }

  lastIndexOf(value, from = this.length, encoding = undefined) {
    const wanted = typeof value === 'number' ? [value & 255] : typeof value === 'string' ? Buffer.from(value, encoding) : value;
    for (let i = Math.min(from, this.length - wanted.length); i >= 0; i--) {
      let j = 0;
      while (j < wanted.length && this[i + j] === wanted[j]) j += 1;
      if (j === wanted.length) return i;
    }
    return -1;
  }

  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) !== -1;
  }

  #swap(size) {
    for (let i = 0; i + size <= this.length; i += size) this.subarray(i, i + size).reverse();
    return this;
  }

  swap16() {
    return this.#swap(2);
  }

  swap32() {
    return this.#swap(4);
  }

  swap64() {
    return this.#swap(8);
  }

  readUIntBE(offset, size) {
    let result = 0;
    for (let i = 0; i < size; i++) result = result * 256 + this[offset + i];
    return result;
  }

  readUIntLE(offset, size) {
    let result = 0;
    for (let i = size - 1; i >= 0; i--) result = result * 256 + this[offset + i];
    return result;
  }

  readIntBE(offset, size) {
    const result = this.readUIntBE(offset, size);
    return result >= 2 ** (8 * size - 1) ? result - 2 ** (8 * size) : result;
  }

  readIntLE(offset, size) {
    const result = this.readUIntLE(offset, size);
    return result >= 2 ** (8 * size - 1) ? result - 2 ** (8 * size) : result;
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    const hex = decode(this.subarray(0, 50), 'hex').replace(/(..)(?=.)/g, '$1 ');
    const more = this.length > 50 ? ` ... ${this.length - 50} more byte${this.length > 51 ? 's' : ''}` : '';
    return `<${this.constructor.name} ${hex}${more}>`;
  }
}

function outOfRange(buffer, offset, size) {
  if (offset + size <= buffer.length && offset >= 0) return;
  throw Object.assign(new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. Received ${offset}`), { code: 'ERR_OUT_OF_RANGE' });
}

const numbers = {
  UInt8: ['Uint8', 1], Int8: ['Int8', 1], UInt16: ['Uint16', 2], Int16: ['Int16', 2], UInt32: ['Uint32', 4], Int32: ['Int32', 4],
  Float: ['Float32', 4], Double: ['Float64', 8], BigInt64: ['BigInt64', 8], BigUInt64: ['BigUint64', 8],
};
for (const [name, [view, size]] of Object.entries(numbers)) {
  for (const order of size === 1 ? [''] : ['LE', 'BE']) {
    const read = function (offset = 0) {
      outOfRange(this, offset, size);
      return new DataView(this.buffer, this.byteOffset, this.length)[`get${view}`](offset, order === 'LE');
    };
    const write = function (value, offset = 0) {
      outOfRange(this, offset, size);
      new DataView(this.buffer, this.byteOffset, this.length)[`set${view}`](offset, value, order === 'LE');
      return offset + size;
    };
    for (const spelling of new Set([name, name.replace('UInt', 'Uint')])) {
      Object.defineProperty(Buffer.prototype, `read${spelling}${order}`, { value: read, writable: true, configurable: true });
      Object.defineProperty(Buffer.prototype, `write${spelling}${order}`, { value: write, writable: true, configurable: true });
    }
  }
}

function btoa(text) {
  if (/[^\x00-\xff]/.test(`${text}`)) {
    const { DOMException } = require('internal/abort');
    throw new DOMException('Invalid character', 'InvalidCharacterError');
  }
  return decode(encode(`${text}`, 'latin1'), 'base64');
}

function atob(text) {
  const digits = `${text}`.replace(/[\t\n\f\r ]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(digits) || digits.replace(/=+$/, '').length % 4 === 1) {
    const { DOMException } = require('internal/abort');
    throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  }
  return decode(encode(digits, 'base64'), 'latin1');
}

class Blob {
  #bytes;

  constructor(parts = [], options = {}) {
    this.#bytes = Buffer.concat([...parts].map((part) => (part instanceof Blob ? part.#bytes
      : part instanceof ArrayBuffer ? Buffer.from(part) : bytesOf(ArrayBuffer.isView(part) ? part : `${part}`))));
    this.type = options.type ?? '';
  }

  get size() {
    return this.#bytes.length;
  }

  async text() {
    return this.#bytes.toString();
  }

  async arrayBuffer() {
    return this.#bytes.buffer.slice(this.#bytes.byteOffset, this.#bytes.byteOffset + this.#bytes.length);
  }

  slice(start, end, type) {
    return new Blob([this.#bytes.subarray(start, end)], { type });
  }
}

module.exports = { Buffer, Blob, atob, btoa, constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 - 24 }, kMaxLength: 2 ** 32 };
