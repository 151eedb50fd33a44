// fetch, limited to hosts that the sandbox grants.

const { send, cancel } = native('http');
const { encode, decode } = native('encodings');
const { URL, URLSearchParams } = require('url');

const statusTexts = {
  200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content', 301: 'Moved Permanently', 302: 'Found',
  303: 'See Other', 304: 'Not Modified', 307: 'Temporary Redirect', 308: 'Permanent Redirect', 400: 'Bad Request',
  401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 409: 'Conflict', 410: 'Gone',
  418: "I'm a Teapot", 422: 'Unprocessable Entity', 429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented',
  502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
};

class Headers {
  #map = new Map();

  constructor(init) {
    if (init === undefined || init === null) return;
    const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name, value) {
    const key = `${name}`.toLowerCase();
    this.#map.set(key, [...(this.#map.get(key) ?? []), `${value}`.trim()]);
  }

  set(name, value) {
    this.#map.set(`${name}`.toLowerCase(), [`${value}`.trim()]);
  }

  get(name) {
    return this.#map.get(`${name}`.toLowerCase())?.join(', ') ?? null;
  }

  getSetCookie() {
    return [...(this.#map.get('set-cookie') ?? [])];
  }

  has(name) {
    return this.#map.has(`${name}`.toLowerCase());
  }

  delete(name) {
    this.#map.delete(`${name}`.toLowerCase());
  }

  forEach(callback, self) {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }

  * entries() {
    for (const name of [...this.#map.keys()].sort()) yield [name, this.get(name)];
  }

  * keys() {
    for (const [name] of this) yield name;
  }

  * values() {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    return `Headers ${inspect(Object.fromEntries(this), options)}`;
  }
}

class FormData {
  #list = [];

  append(name, value, file) {
    this.#list.push([`${name}`, value, file]);
  }

  set(name, value, file) {
    this.#list = this.#list.filter(([other]) => other !== `${name}`);
    this.append(name, value, file);
  }

  get(name) {
    return this.#list.find(([other]) => other === `${name}`)?.[1] ?? null;
  }

  has(name) {
    return this.#list.some(([other]) => other === `${name}`);
  }

  * entries() {
    for (const [name, value] of this.#list) yield [name, value];
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  async encode(boundary) {
    const { Buffer } = require('buffer');
    const parts = [];
    for (const [name, value, file] of this.#list) {
      const isBlob = typeof value?.arrayBuffer === 'function';
      const fileName = isBlob ? `; filename="${file ?? value.name ?? 'blob'}"\r\nContent-Type: ${value.type || 'application/octet-stream'}` : '';
      parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n\r\n`));
      parts.push(isBlob ? Buffer.from(await value.arrayBuffer()) : Buffer.from(`${value}`), Buffer.from('\r\n'));
    }
    return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  }
}

// Returns the bytes of a body, and the type that it implies.
async function bodyOf(body) {
  if (body === undefined || body === null) return [new Uint8Array(0)];
  if (body instanceof URLSearchParams) return [encode(`${body}`, 'utf8'), 'application/x-www-form-urlencoded;charset=UTF-8'];
  if (body instanceof FormData) {
    const boundary = `----formdata-${Math.random().toString(36).slice(2)}`;
    return [await body.encode(boundary), `multipart/form-data; boundary=${boundary}`];
  }
  if (body instanceof ArrayBuffer) return [new Uint8Array(body)];
  if (ArrayBuffer.isView(body)) return [new Uint8Array(body.buffer, body.byteOffset, body.byteLength)];
  if (typeof body.arrayBuffer === 'function') return [new Uint8Array(await body.arrayBuffer()), body.type || undefined];
  if (typeof body[Symbol.asyncIterator] === 'function') {
    const { Buffer } = require('buffer');
    const parts = [];
    for await (const part of body) parts.push(Buffer.from(part));
    return [Buffer.concat(parts)];
  }
  return [encode(`${body}`, 'utf8'), 'text/plain;charset=UTF-8'];
}

class Body {
  #source;
  bodyUsed = false;

  constructor(source) {
    this.#source = source;
  }

  get body() {
    if (this.#source === undefined || this.#source === null) return null;
    const take = () => this.#take();
    return {
      async* [Symbol.asyncIterator]() {
        yield await take();
      },
      getReader() {
        let done = false;
        return {
          async read() {
            if (done) return { done: true, value: undefined };
            done = true;
            return { done: false, value: await take() };
          },
          releaseLock() {},
          async cancel() {},
        };
      },
    };
  }

  async #take() {
    if (this.bodyUsed) throw new TypeError('Body is unusable: Body has already been read');
    this.bodyUsed = true;
    return (await bodyOf(this.#source))[0];
  }

  async arrayBuffer() {
    const bytes = await this.#take();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }

  async bytes() {
    return this.#take();
  }

  async blob() {
    const { Blob } = require('buffer');
    return new Blob([await this.#take()], { type: this.headers.get('content-type') ?? '' });
  }

  async text() {
    return decode(await this.#take(), 'utf8').replace(/^\ufeff/, '');
  }

  async json() {
    return JSON.parse(await this.text());
  }

  get source() {
    return this.#source;
  }
}
Object.defineProperty(Body.prototype, 'source', { enumerable: false });

class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : {};
    super(init.body ?? from.source);
    this.url = `${new URL(from.url ?? `${input}`)}`;
    this.method = `${init.method ?? from.method ?? 'GET'}`;
    if (/^(get|head|post|put|delete|options)$/i.test(this.method)) this.method = this.method.toUpperCase();
    this.headers = new Headers(init.headers ?? from.headers);
    this.redirect = init.redirect ?? from.redirect ?? 'follow';
    this.signal = init.signal ?? from.signal ?? null;
    const hasBody = (init.body ?? from.source ?? null) !== null;
    if (hasBody && (this.method === 'GET' || this.method === 'HEAD')) throw new TypeError('Request with GET/HEAD method cannot have body.');
  }

  clone() {
    return new Request(this);
  }
}

class Response extends Body {
  constructor(body = null, init = {}) {
    super(body);
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? '';
    this.headers = new Headers(init.headers);
    this.ok = this.status >= 200 && this.status <= 299;
    this.redirected = init.redirected ?? false;
    this.type = 'default';
    this.url = init.url ?? '';
    if (typeof body === 'string' && !this.headers.has('content-type')) this.headers.set('content-type', 'text/plain;charset=UTF-8');
  }

  static json(value, init = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(JSON.stringify(value), { ...init, headers });
  }

  static error() {
    return new Response(null, { status: 0 });
  }

  static redirect(url, status = 302) {
    return new Response(null, { status, headers: { location: `${url}` } });
  }

  clone() {
    return new Response(this.source, this);
  }
}

function exchange(url, method, headers, bytes, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const id = send(method, url.protocol === 'https:', url.host, `${url.pathname}${url.search}`, [...headers].flat(), bytes, resolve, reject);
    signal?.addEventListener('abort', () => {
      cancel(id);
      reject(signal.reason);
    }, { once: true });
  });
}

async function fetch(input, init) {
  const request = new Request(input, init);
  let url = new URL(request.url);
  if (url.protocol === 'data:') {
    const [, type, isBase64, data] = /^([^,]*?)(;base64)?,(.*)$/s.exec(url.href.slice(5));
    const bytes = isBase64 ? encode(decodeURIComponent(data), 'base64') : encode(decodeURIComponent(data), 'utf8');
    return new Response(bytes, { headers: { 'content-type': type || 'text/plain;charset=US-ASCII' }, statusText: 'OK', url: url.href });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`fetch failed: unknown scheme ${url.protocol}`);
  let { method } = request;
  let [bytes, type] = await bodyOf(request.source);
  const { headers } = request;
  if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
  if (!headers.has('accept')) headers.set('accept', '*/*');
  if (!headers.has('user-agent')) headers.set('user-agent', 'node');
  if (bytes.length > 0 || method === 'POST' || method === 'PUT') headers.set('content-length', bytes.length);
  for (let hops = 0; hops <= 20; hops++) {
    const [status, list, body] = await exchange(url, method, headers, bytes, request.signal);
    const pairs = [];
    for (let i = 0; i < list.length; i += 2) pairs.push([list[i], list[i + 1]]);
    const answer = new Headers(pairs);
    const location = [301, 302, 303, 307, 308].includes(status) ? answer.get('location') : null;
    if (location === null || request.redirect === 'manual') {
      return new Response(body, { status, statusText: statusTexts[status] ?? '', headers: answer, url: url.href, redirected: hops > 0 });
    }
    if (request.redirect === 'error') throw new TypeError('fetch failed: unexpected redirect');
    const next = new URL(location, url);
    if (next.origin !== url.origin) ['authorization', 'cookie'].forEach((name) => headers.delete(name));
    if (status === 303 || (status < 303 && method === 'POST')) {
      method = 'GET';
      bytes = new Uint8Array(0);
      ['content-length', 'content-type'].forEach((name) => headers.delete(name));
    }
    url = next;
  }
  throw new TypeError('fetch failed: redirect count exceeded');
}

module.exports = { fetch, Headers, FormData, Request, Response };
