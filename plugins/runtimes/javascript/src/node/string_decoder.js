// Decodes text from bytes that arrive in chunks.

const { TextDecoder } = require('internal/text');
const { Buffer } = require('buffer');

class StringDecoder {
  #decoder;
  #rest = Buffer.alloc(0);

  constructor(encoding = 'utf8') {
    this.encoding = encoding.toLowerCase();
    if (['utf8', 'utf-8', 'utf16le', 'ucs2', 'ucs-2'].includes(this.encoding)) {
      this.#decoder = new TextDecoder(this.encoding.startsWith('utf-8') || this.encoding === 'utf8' ? 'utf-8' : 'utf-16le', { ignoreBOM: true });
    }
  }

  write(chunk) {
    if (typeof chunk === 'string') return chunk;
    if (this.#decoder) return this.#decoder.decode(chunk, { stream: true });
    if (!this.encoding.startsWith('base64')) return Buffer.from(chunk).toString(this.encoding);
    const whole = Buffer.concat([this.#rest, chunk]);
    const cut = whole.length % 3;
    this.#rest = whole.subarray(whole.length - cut);
    return whole.subarray(0, whole.length - cut).toString(this.encoding);
  }

  end(chunk) {
    const start = chunk === undefined ? '' : this.write(chunk);
    const last = this.#decoder ? this.#decoder.decode() : this.#rest.toString(this.encoding);
    this.#rest = Buffer.alloc(0);
    return start + last;
  }
}

module.exports = { StringDecoder };
