// Creates elements. Text is always inserted as text: nothing here parses HTML.

/** Creates an element with attributes, listeners (such as `onclick`) and children. `null` and `false` are skipped. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

// Characters that are invisible or change the direction of text, as in host/crates/base/src/printable.rs. Line ends and tabs
// stay.
const HIDDEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e01ef}]|\r(?!\n)/gu;

const code = letter => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns nodes for a text, with invisible characters replaced by their code points. */
export function revealed(text) {
  const nodes = [];
  let from = 0;
  for (const { 0: letter, index } of text.matchAll(HIDDEN)) {
    nodes.push(text.slice(from, index), make('mark', { class: 'hidden-letter', title: 'an invisible character' }, code(letter)));
    from = index + letter.length;
  }
  nodes.push(text.slice(from));
  return nodes;
}

/** Like `revealed`, for attributes and other plain text. */
export const plain = text => text.replace(HIDDEN, code);

/** Text from a file or a service. Isolates its writing direction from ours. */
export const untrusted = (text, attributes = {}) => make('bdi', attributes, revealed(text));

/** A name or path, set in monospace. */
export const literal = (text, attributes = {}) => make('code', attributes, untrusted(text));

/** A message of the server, with names in backticks set in monospace. */
export const sentence = text => text.split('`').map((part, at) => (at % 2 === 1 ? literal(part) : revealed(part)));

/** An error and its hint. */
export const failure = (error, ...more) => make('div', { class: 'notice bad', role: 'alert' },
  more,
  make('p', {}, sentence(error.message)),
  error.hint && make('p', {}, sentence(error.hint)),
);

/** The link to a skill. */
export const skillHref = (address, more = '') => `#/skill/${address.split('/').map(encodeURIComponent).join('/')}${more}`;

export const skillLink = address => make('a', { href: skillHref(address), class: 'skill-name' }, untrusted(address));

/** The name of a skill, and the folder that it is in. */
export function placeOf(address) {
  const parts = address.split('/');
  const name = parts.slice(parts.length > 1 && parts.at(-1) === '_index' ? -2 : -1).join('/');
  return { name, folder: address.slice(0, Math.max(0, address.length - name.length - 1)) };
}

/** The name of a skill, and behind it the folder, which is less important and often long. `more` goes in between. */
export function namedSkill(address, { isLink = true, more = null } = {}) {
  const { name, folder } = placeOf(address);
  return make('span', { class: 'named' },
    isLink ? make('a', { href: skillHref(address), class: 'skill-name' }, untrusted(name)) : untrusted(name, { class: 'skill-name' }),
    more,
    folder !== '' && untrusted(folder, { class: 'above' }),
  );
}

export const badge = (text, kind = '') => make('span', { class: `badge ${kind}` }, text);

export const empty = (title, ...more) => make('div', { class: 'empty' }, make('h2', {}, title), more);

/** `1 skill`, `2 skills`. */
export const counted = (number, thing) => `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

/** A number of bytes with a unit. */
export function bytes(number) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = number < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(number) / 10));
  const value = number / 1024 ** power;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power]}`;
}

/** A timestamp in local time. */
export function timestamp(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return make('span', { class: 'timestamp' }, revealed(text));
  const two = number => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return make('time', { class: 'timestamp', datetime: date.toISOString() }, `${day} ${time}`);
}
