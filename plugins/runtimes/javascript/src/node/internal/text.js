// TextEncoder and TextDecoder.

const { encode, decode, isText } = native('encodings');

const labels = {
  'utf-8': 'utf8', utf8: 'utf8', 'utf-16le': 'utf16le', 'utf-16': 'utf16le', latin1: 'latin1', 'iso-8859-1': 'latin1',
  'windows-1252': 'latin1', ascii: 'latin1', 'us-ascii': 'latin1',
};
const names = { utf8: 'utf-8', utf16le: 'utf-16le', latin1: 'windows-1252' };

class TextEncoder {
  get encoding() {
    return 'utf-8';
  }

  encode(text = '') {
    return encode(`${text}`, 'utf8');
  }

  encodeInto(text, target) {
    let written = 0;
    let read = 0;
    for (const letter of `${text}`) {
      const bytes = encode(letter, 'utf8');
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += letter.length;
    }
    return { read, written };
  }
}

function bytesOf(data) {
  if (data === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return new Uint8Array(data);
}

// Returns the number of trailing bytes of an incomplete character.
function unfinished(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

class TextDecoder {
  #encoding;
  #rest = new Uint8Array(0);
  #started = false;

  constructor(label = 'utf-8', options = {}) {
    this.#encoding = labels[`${label}`.trim().toLowerCase()];
    if (this.#encoding === undefined) {
      throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: 'ERR_ENCODING_NOT_SUPPORTED' });
    }
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  get encoding() {
    return names[this.#encoding];
  }

  decode(data, { stream = false } = {}) {
    let bytes = bytesOf(data);
    if (this.#rest.length > 0) bytes = new Uint8Array([...this.#rest, ...bytes]);
    const cut = stream ? (this.#encoding === 'utf8' ? unfinished(bytes) : this.#encoding === 'utf16le' ? bytes.length % 2 : 0) : 0;
    this.#rest = bytes.slice(bytes.length - cut);
    bytes = bytes.subarray(0, bytes.length - cut);
    if (this.fatal && this.#encoding === 'utf8' && !isText(bytes)) {
      throw Object.assign(new TypeError('The encoded data was not valid for encoding utf-8'), { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' });
    }
    let text = decode(bytes, this.#encoding);
    if (!this.#started && !this.ignoreBOM && text.startsWith('\ufeff')) text = text.slice(1);
    this.#started = stream;
    return text;
  }
}

for (const type of [TextEncoder, TextDecoder]) Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });

module.exports = { TextEncoder, TextDecoder, unfinished };
