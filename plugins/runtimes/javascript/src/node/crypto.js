// Hashes and random values.

const { digest, random } = native('digests');
const { Buffer } = require('buffer');

function bytesOf(data, encoding) {
  if (typeof data === 'string') return Buffer.from(data, encoding);
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  throw Object.assign(new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView'), { code: 'ERR_INVALID_ARG_TYPE' });
}

const toBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

class Hash {
  #name;
  #parts = [];
  #finish;

  constructor(name, finish = (bytes) => bytes) {
    this.#name = `${name}`;
    this.#finish = finish;
    digest(this.#name, '');
  }

  update(data, encoding) {
    if (this.#parts === undefined) throw Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' });
    this.#parts.push(bytesOf(data, encoding));
    return this;
  }

  digest(encoding) {
    if (this.#parts === undefined) throw Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' });
    const result = this.#finish(toBuffer(digest(this.#name, Buffer.concat(this.#parts))));
    this.#parts = undefined;
    return encoding && encoding !== 'buffer' ? result.toString(encoding) : result;
  }

  copy() {
    const other = new Hash(this.#name, this.#finish);
    other.#parts = [...this.#parts];
    return other;
  }
}

function createHmac(name, key) {
  const block = /384|512/.test(name) ? 128 : 64;
  let bytes = bytesOf(key);
  if (bytes.length > block) bytes = toBuffer(digest(name, bytes));
  const padded = Buffer.concat([bytes], block);
  const mixed = (value) => Buffer.from(padded.map((byte) => byte ^ value));
  const finish = (inner) => toBuffer(digest(name, Buffer.concat([mixed(0x5c), inner])));
  return new Hash(name, finish).update(mixed(0x36));
}

function randomBytes(size, callback) {
  const bytes = toBuffer(random(size));
  if (callback) require('timers').setImmediate(callback, null, bytes);
  return bytes;
}

function randomInt(low, high, callback) {
  if (high === undefined || typeof high === 'function') [low, high, callback] = [0, low, high];
  const value = low + Number(randomBytes(7).readUIntBE(0, 6) % (high - low));
  if (callback) require('timers').setImmediate(callback, null, value);
  return value;
}

function randomUUID() {
  const bytes = random(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return toBuffer(bytes).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function getRandomValues(array) {
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random(array.byteLength));
  return array;
}

function timingSafeEqual(left, right) {
  if (left.byteLength !== right.byteLength) throw new RangeError('Input buffers must have the same byte length');
  return left.reduce((difference, byte, index) => difference | (byte ^ right[index]), 0) === 0;
}

module.exports = {
  createHash: (name) => new Hash(name),
  createHmac,
  hash: (name, data, encoding = 'hex') => new Hash(name).update(data).digest(encoding),
  getHashes: () => ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
  randomBytes,
  randomInt,
  randomUUID,
  getRandomValues,
  randomFillSync: getRandomValues,
  timingSafeEqual,
  webcrypto: {
    randomUUID,
    getRandomValues,
    subtle: {
      async digest(name, data) {
        const bytes = digest(typeof name === 'string' ? name : name.name, bytesOf(data));
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      },
    },
  },
};
