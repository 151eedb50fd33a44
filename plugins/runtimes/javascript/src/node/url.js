// WHATWG URLs and file URLs.

const { parse: parseUrl, change } = native('urls');

const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];

function encodeForm(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()~]|%20/g, (found) => (found === '%20' ? '+' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`));
}

function decodeForm(text) {
  text = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

class URLSearchParams {
  #list = [];
  #changed = () => {};

  constructor(init = '', changed = undefined) {
    if (typeof changed === 'function') this.#changed = changed;
    if (typeof init === 'string') this.#read(init);
    else if (init !== null && typeof init?.[Symbol.iterator] === 'function') {
      for (const [name, value] of init) this.#list.push([`${name}`, `${value}`]);
    } else if (init !== null && typeof init === 'object') {
      for (const name of Object.keys(init)) this.#list.push([name, `${init[name]}`]);
    }
  }

  #read(text) {
    this.#list = text.replace(/^\?/, '').split('&').filter(Boolean).map((part) => {
      const at = part.indexOf('=');
      return at === -1 ? [decodeForm(part), ''] : [decodeForm(part.slice(0, at)), decodeForm(part.slice(at + 1))];
    });
  }

  static reread(params, text) {
    params.#read(text);
  }

  get size() {
    return this.#list.length;
  }

  append(name, value) {
    this.#list.push([`${name}`, `${value}`]);
    this.#changed();
  }

  delete(name, value) {
    this.#list = this.#list.filter(([key, item]) => key !== `${name}` || (value !== undefined && item !== `${value}`));
    this.#changed();
  }

  get(name) {
    return this.#list.find(([key]) => key === `${name}`)?.[1] ?? null;
  }

  getAll(name) {
    return this.#list.filter(([key]) => key === `${name}`).map(([, value]) => value);
  }

  has(name, value) {
    return this.#list.some(([key, item]) => key === `${name}` && (value === undefined || item === `${value}`));
  }

  set(name, value) {
    const index = this.#list.findIndex(([key]) => key === `${name}`);
    if (index === -1) this.#list.push([`${name}`, `${value}`]);
    else this.#list = this.#list.filter(([key], other) => key !== `${name}` || other === index).map((pair, other) => (other === index ? [`${name}`, `${value}`] : pair));
    this.#changed();
  }

  sort() {
    this.#list.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    this.#changed();
  }

  forEach(callback, self) {
    for (const [name, value] of this.#list) callback.call(self, value, name, this);
  }

  * entries() {
    for (const [name, value] of this.#list) yield [name, value];
  }

  * keys() {
    for (const [name] of this.#list) yield name;
  }

  * values() {
    for (const [, value] of this.#list) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  toString() {
    return this.#list.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join('&');
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (this.#list.length === 0) return 'URLSearchParams {}';
    return `URLSearchParams { ${this.#list.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`).join(', ')} }`;
  }
}

class URL {
  #parts;
  #params;

  constructor(url, base) {
    this.#parts = parseUrl(`${url}`, base === undefined ? undefined : `${base}`);
  }

  static canParse(url, base) {
    return URL.parse(url, base) !== null;
  }

  static parse(url, base) {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  static {
    parts.forEach((name, index) => {
      const property = { configurable: true, enumerable: true, get() { return this.#parts[index]; } };
      if (name !== 'origin') {
        property.set = function (value) {
          this.#parts = change(this.#parts[0], name, `${value}`);
          if (this.#params) URLSearchParams.reread(this.#params, this.search);
        };
      }
      Object.defineProperty(URL.prototype, name, property);
    });
  }

  get searchParams() {
    this.#params ??= new URLSearchParams(this.search, () => {
      this.#parts = change(this.#parts[0], 'search', this.#params.toString());
    });
    return this.#params;
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    const shown = {};
    for (const name of [...parts.slice(0, 10), 'searchParams', 'hash']) shown[name] = this[name];
    return `URL ${inspect(shown, options)}`;
  }
}

function invalid(message, code) {
  return Object.assign(new TypeError(message), { code });
}

function fileURLToPath(url) {
  const parsed = typeof url === 'string' ? new URL(url) : url;
  if (parsed?.protocol !== 'file:') throw invalid('The URL must be of scheme file', 'ERR_INVALID_URL_SCHEME');
  return decodeURIComponent(parsed.pathname);
}

function pathToFileURL(path) {
  const absolute = require('path').resolve(path) + (path.endsWith('/') && path !== '/' ? '/' : '');
  const escaped = absolute.replace(/[%\\\n\r\t?#]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  return new URL(`file://${escaped}`);
}

// The legacy interface, for absolute URLs.
function parse(text, parseQuery = false) {
  const url = URL.parse(text, 'relative://');
  const isRelative = url === null || url.protocol === 'relative:';
  const query = (url?.search ?? '').slice(1);
  return {
    protocol: isRelative ? null : url.protocol,
    slashes: isRelative ? null : true,
    auth: url?.username ? `${url.username}${url.password ? `:${url.password}` : ''}` : null,
    host: isRelative ? null : url.host,
    port: url?.port || null,
    hostname: isRelative ? null : url.hostname,
    hash: url?.hash || null,
    search: url?.search || null,
    query: parseQuery ? require('querystring').parse(query) : query || null,
    pathname: url?.pathname ?? text,
    path: `${url?.pathname ?? text}${url?.search ?? ''}`,
    href: isRelative ? text : url.href,
  };
}

function format(url) {
  if (typeof url === 'string' || url instanceof URL) return `${new URL(url)}`;
  const host = url.host ?? (url.hostname ? `${url.hostname}${url.port ? `:${url.port}` : ''}` : '');
  const search = url.search ?? (url.query ? `?${typeof url.query === 'string' ? url.query : require('querystring').stringify(url.query)}` : '');
  return `${url.protocol ? url.protocol.replace(/:?$/, ':') : ''}${host ? '//' : ''}${url.auth ? `${url.auth}@` : ''}${host}${url.pathname ?? ''}${search}${url.hash ?? ''}`;
}

module.exports = {
  URL,
  URLSearchParams,
  fileURLToPath,
  pathToFileURL,
  parse,
  format,
  resolve: (from, to) => `${new URL(to, new URL(from, 'resolve://'))}`.replace(/^resolve:\/\//, ''),
  urlToHttpOptions: (url) => ({ protocol: url.protocol, hostname: url.hostname, port: Number(url.port) || undefined, path: `${url.pathname}${url.search}`, href: url.href }),
  domainToASCII: (domain) => URL.parse(`http://${domain}`)?.hostname ?? '',
};
