// Formats values by the rules of Node's `util.inspect`.

const { kind, promise } = native('values');

const custom = Symbol.for('nodejs.util.inspect.custom');
const plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const styles = {
  number: [33, 39], bigint: [33, 39], boolean: [33, 39], undefined: [90, 39], null: [1, 22], string: [32, 39],
  symbol: [32, 39], special: [36, 39], date: [35, 39], regexp: [31, 39], module: [4, 24],
};
const defaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, maxArrayLength: 100, maxStringLength: 10000,
  breakLength: 80, compact: 3, sorted: false, getters: false,
};

function inspect(value, options) {
  if (typeof options !== 'object' || options === null) {
    // The legacy form: inspect(value, showHidden, depth, colors).
    const [, showHidden, depth, colors] = arguments;
    options = { showHidden: showHidden === true };
    if (depth !== undefined) options.depth = depth;
    if (colors !== undefined) options.colors = colors;
  }
  const state = { ...defaults, ...options, seen: [], circular: undefined, indentation: 0, currentDepth: 0 };
  if (state.depth === null) state.depth = Infinity;
  if (state.maxArrayLength === null) state.maxArrayLength = Infinity;
  if (state.maxStringLength === null) state.maxStringLength = Infinity;
  if (state.compact === true) state.compact = 3;
  if (state.compact === false) state.compact = 0;
  state.options = options;
  return formatValue(state, value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = defaults;
inspect.styles = styles;

function style(state, text, name) {
  if (!state.colors || !styles[name]) return text;
  const [on, off] = styles[name];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes('`') && !text.includes('${')) mark = '`';
  }
  let result = '';
  for (const letter of text) {
    const code = letter.charCodeAt(0);
    if (letter === mark || letter === '\\') result += '\\' + letter;
    else if (letter === '\n') result += '\\n';
    else if (letter === '\t') result += '\\t';
    else if (letter === '\r') result += '\\r';
    else if (letter === '\b') result += '\\b';
    else if (letter === '\f') result += '\\f';
    else if (letter === '\v') result += '\\v';
    else if (code < 32 || (code > 126 && code < 160)) result += '\\x' + code.toString(16).toUpperCase().padStart(2, '0');
    else if (letter.length === 1 && code >= 0xd800 && code <= 0xdfff) result += '\\u' + code.toString(16).toUpperCase();
    else result += letter;
  }
  return mark + result + mark;
}

function formatPrimitive(state, value) {
  switch (typeof value) {
    case 'string': {
      let rest = '';
      if (value.length > state.maxStringLength) {
        const more = value.length - state.maxStringLength;
        value = value.slice(0, state.maxStringLength);
        rest = `... ${more} more character${more > 1 ? 's' : ''}`;
      }
      if (state.compact !== true && value.length > 16 && value.length > state.breakLength - state.indentation - 4) {
        const lines = value.split(/(?<=\n)/);
        return lines.map((line) => style(state, quote(line), 'string')).join(` +\n${' '.repeat(state.indentation + 2)}`) + rest;
      }
      return style(state, quote(value), 'string') + rest;
    }
    case 'number': return style(state, Object.is(value, -0) ? '-0' : `${value}`, 'number');
    case 'bigint': return style(state, `${value}n`, 'bigint');
    case 'symbol': return style(state, value.toString(), 'symbol');
    case 'undefined': return style(state, 'undefined', 'undefined');
    default: return style(state, `${value}`, value === null ? 'null' : typeof value);
  }
}

function formatValue(state, value, depth) {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return formatPrimitive(state, value);
  if (state.customInspect && kind(value) !== 'Proxy') {
    const own = value[custom];
    if (typeof own === 'function' && own !== inspect) {
      const options = { ...state.options, depth: state.depth - depth, stylize: (text, name) => style(state, text, name) };
      const result = own.call(value, state.depth - depth, options, inspect);
      if (result !== value) {
        if (typeof result !== 'object') return `${result}`.replaceAll('\n', `\n${' '.repeat(state.indentation)}`);
        return formatValue(state, result, depth);
      }
    }
  }
  if (state.seen.includes(value)) {
    state.circular ??= new Map();
    if (!state.circular.has(value)) state.circular.set(value, state.circular.size + 1);
    return style(state, `[Circular *${state.circular.get(value)}]`, 'special');
  }
  return formatObject(state, value, depth);
}

function constructorName(value) {
  let object = value;
  while (object) {
    const descriptor = Object.getOwnPropertyDescriptor(object, 'constructor');
    const type = descriptor?.value;
    if (typeof type === 'function' && type.name !== '' && value instanceof type) return type.name;
    object = Object.getPrototypeOf(object);
  }
  return null;
}

function prefix(name, tag, fallback, size = '') {
  const shown = name === null ? `[${fallback}${size}: null prototype] ` : `${name}${size} `;
  return tag !== '' && tag !== name ? `${shown}[${tag}] ` : shown;
}

function ownKeys(state, value, withoutIndices) {
  let keys = Object.keys(value);
  if (withoutIndices) keys = keys.filter((key) => !/^(0|[1-9]\d*)$/.test(key));
  if (state.showHidden) {
    keys = Object.getOwnPropertyNames(value).filter((key) => !withoutIndices || !/^(0|[1-9]\d*)$/.test(key));
  }
  const symbols = Object.getOwnPropertySymbols(value);
  for (const symbol of symbols) {
    if (state.showHidden || Object.prototype.propertyIsEnumerable.call(value, symbol)) keys.push(symbol);
  }
  return keys;
}

function formatObject(state, value, depth) {
  let what = kind(value);
  if (what === 'Proxy') what = Array.isArray(value) ? 'Array' : typeof value === 'function' ? 'Function' : 'Object';
  const name = constructorName(value);
  let tag = '';
  try {
    tag = value[Symbol.toStringTag];
  } catch { /* A getter may throw; then there is no tag. */ }
  if (typeof tag !== 'string' || tag === name) tag = '';
  let base = '';
  let braces = ['{', '}'];
  let keys;
  // Called with the depth of the contents.
  let entries = () => [];
  let listed = false;

  if (what === 'Array') {
    keys = ownKeys(state, value, true);
    braces = [`${name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', `(${value.length})`) : ''}[`, ']'];
    if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
    listed = true;
    entries = (inner) => formatArray(state, value, inner);
  } else if (what === 'Set') {
    keys = ownKeys(state, value);
    braces[0] = `${prefix(name, tag, 'Set', `(${value.size})`)}{`;
    if (value.size === 0 && keys.length === 0) return `${braces[0]}}`;
    entries = (inner) => limited(state, [...value], (item) => formatValue(state, item, inner));
  } else if (what === 'Map') {
    keys = ownKeys(state, value);
    braces[0] = `${prefix(name, tag, 'Map', `(${value.size})`)}{`;
    if (value.size === 0 && keys.length === 0) return `${braces[0]}}`;
    entries = (inner) => limited(state, [...value],
      ([key, item]) => `${formatValue(state, key, inner)} => ${formatValue(state, item, inner)}`);
  } else if (what === 'TypedArray') {
    keys = ownKeys(state, value, true);
    braces = [`${prefix(name, tag, 'Uint8Array', `(${value.length})`)}[`, ']'];
    if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
    listed = true;
    entries = (inner) => formatArray(state, value, inner);
  } else {
    keys = ownKeys(state, value);
    if (tag === 'Module' && name === null) {
      braces[0] = '[Module: null prototype] {';
    } else if (tag === 'Arguments' || Object.prototype.toString.call(value) === '[object Arguments]') {
      braces[0] = '[Arguments] {';
      if (keys.length === 0) return `${braces[0]}}`;
    } else if (what === 'Function' || what === 'Class') {
      base = functionBase(value, name, tag);
      if (keys.length === 0) return style(state, base, 'special');
    } else if (what === 'RegExp') {
      base = RegExp.prototype.toString.call(value);
      if (keys.length === 0) return style(state, base, 'regexp');
    } else if (what === 'Date') {
      const time = Date.prototype.getTime.call(value);
      base = Number.isNaN(time) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
      if (name !== 'Date') base = `${prefix(name, tag, 'Date')}${base}`;
      if (keys.length === 0) return style(state, base, 'date');
    } else if (what === 'Error') {
      base = formatError(state, value, name, tag, keys);
      if (keys.length === 0) return base;
    } else if (what === 'Promise') {
      braces[0] = `${prefix(name, tag, 'Promise')}{`;
      entries = (inner) => {
        const [progress, result] = promise(value);
        if (progress === 'pending') return [style(state, '<pending>', 'special')];
        state.indentation += 2;
        const text = formatValue(state, result, inner);
        state.indentation -= 2;
        return [progress === 'rejected' ? `${style(state, '<rejected>', 'special')} ${text}` : text];
      };
    } else if (what === 'WeakMap' || what === 'WeakSet') {
      braces[0] = `${prefix(name, tag, what)}{`;
      entries = () => [style(state, '<items unknown>', 'special')];
    } else if (what === 'ArrayBuffer') {
      braces[0] = `${prefix(name, tag, 'ArrayBuffer')}{`;
      entries = () => {
        const bytes = new Uint8Array(value);
        const hex = Array.from(bytes.subarray(0, 50), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
        const more = bytes.length > 50 ? ` ... ${bytes.length - 50} more byte${bytes.length > 51 ? 's' : ''}` : '';
        return [`[Uint8Contents]: <${hex}${more}>`, `byteLength: ${style(state, `${value.byteLength}`, 'number')}`];
      };
    } else if (what === 'Generator') {
      braces[0] = `${prefix(name, tag, 'Generator')}{`;
    } else if (isBoxed(value)) {
      const inner = value.valueOf();
      base = `[${constructorName(value)}: ${formatPrimitive({ ...state, colors: false }, inner)}]`;
      if (typeof inner === 'string') keys = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
      if (keys.length === 0) return base;
    } else if (name === 'Object' && tag === '') {
      if (keys.length === 0) return '{}';
    } else {
      braces[0] = `${prefix(name, tag, 'Object')}{`;
      if (keys.length === 0) return `${braces[0]}}`;
    }
  }

  if (depth > state.depth) {
    const shown = prefix(name, tag, what === 'Array' ? 'Array' : 'Object').slice(0, -1);
    return style(state, `[${name === null ? shown.slice(1, -1) : shown}]`, 'special');
  }

  state.seen.push(value);
  state.currentDepth = depth;
  const output = entries(depth + 1);
  for (const key of keys) output.push(formatProperty(state, value, key, depth));
  if (what === 'Error') formatCauses(state, value, depth, output, keys);
  state.seen.pop();
  if (state.sorted) output.sort(state.sorted === true ? undefined : state.sorted);

  if (state.circular?.has(value)) {
    const reference = style(state, `<ref *${state.circular.get(value)}>`, 'special');
    if (base === '') braces[0] = braces[0] === '' ? reference : `${reference} ${braces[0]}`;
    else base = `${reference} ${base}`;
  }
  return assemble(state, output, base, braces, listed, depth, value);
}

function isBoxed(value) {
  return value instanceof Number || value instanceof String || value instanceof Boolean ||
    (typeof BigInt === 'function' && value instanceof BigInt) || value instanceof Symbol;
}

function functionBase(value, name, tag) {
  if (kind(value) === 'Class') {
    const own = Object.prototype.hasOwnProperty.call(value, 'name') ? value.name : '';
    let text = `[class ${own === '' ? '(anonymous)' : own}`;
    if (name !== 'Function' && name !== null) text += ` [${name}]`;
    const parent = Object.getPrototypeOf(value)?.name;
    if (parent) text += ` extends ${parent}`;
    else if (Object.getPrototypeOf(value) === null) text += ' extends [null prototype]';
    return `${text}]`;
  }
  const type = tag.endsWith('Function') ? tag : name?.endsWith('Function') ? name : 'Function';
  let text = `[${type}`;
  if (name === null) text += ' (null prototype)';
  text += value.name === '' ? ' (anonymous)' : `: ${typeof value.name === 'string' ? value.name : '(anonymous)'}`;
  return `${text}]`;
}

function formatError(state, error, constructor, tag, keys) {
  const name = error.name != null ? `${error.name}` : 'Error';
  let stack = typeof error.stack === 'string' && error.stack !== '' ? error.stack : Error.prototype.toString.call(error);
  for (const key of ['name', 'message', 'stack']) {
    const index = keys.indexOf(key);
    if (index !== -1 && (key === 'stack' || stack.includes(error[key]))) keys.splice(index, 1);
  }
  if ('cause' in error && keys.includes('cause')) keys.splice(keys.indexOf('cause'), 1);
  if (Array.isArray(error.errors) && keys.includes('errors')) keys.splice(keys.indexOf('errors'), 1);
  if (constructor !== null && name.endsWith('Error') && stack.startsWith(name) &&
      (stack.length === name.length || stack[name.length] === ':' || stack[name.length] === '\n') && constructor !== name) {
    stack = constructor.includes(name)
      ? `${constructor}${stack.slice(name.length)}`
      : `${constructor} [${name}]${stack.slice(name.length)}`;
  }
  const hasFrames = stack.includes('\n    at');
  if (!hasFrames) stack = `[${stack}]`;
  if (state.indentation !== 0) stack = stack.replaceAll('\n', `\n${' '.repeat(state.indentation)}`);
  return stack;
}

function formatCauses(state, error, depth, output, keys) {
  const own = (key) => Object.prototype.hasOwnProperty.call(error, key) && !keys.includes(key);
  const hidden = [];
  if (own('cause')) hidden.push('cause');
  if (own('errors') && Array.isArray(error.errors)) hidden.push('errors');
  for (const key of hidden) {
    state.indentation += 2;
    output.push(`[${key}]: ${formatValue(state, error[key], depth + 1)}`);
    state.indentation -= 2;
  }
}

function limited(state, items, show) {
  const shown = Math.min(Math.max(0, state.maxArrayLength), items.length);
  state.indentation += 2;
  const output = items.slice(0, shown).map(show);
  state.indentation -= 2;
  if (items.length > shown) output.push(more(items.length - shown));
  return output;
}

function more(count) {
  return `... ${count} more item${count > 1 ? 's' : ''}`;
}

function formatArray(state, array, depth) {
  const output = [];
  const shown = Math.min(Math.max(0, state.maxArrayLength), array.length);
  state.indentation += 2;
  let index = 0;
  while (index < array.length && output.length < shown) {
    if (!(index in array)) {
      let end = index;
      while (end < array.length && !(end in array)) end += 1;
      output.push(style(state, `<${end - index} empty item${end - index > 1 ? 's' : ''}>`, 'undefined'));
      index = end;
      continue;
    }
    output.push(formatItem(state, array, index, depth));
    index += 1;
  }
  state.indentation -= 2;
  if (index < array.length) output.push(more(array.length - index));
  return output;
}

function formatItem(state, array, index, depth) {
  const descriptor = ArrayBuffer.isView(array) ? undefined : Object.getOwnPropertyDescriptor(array, index);
  if (descriptor !== undefined && !('value' in descriptor)) return accessor(state, descriptor);
  return formatValue(state, array[index], depth);
}

function accessor(state, { get, set }) {
  return style(state, get !== undefined ? (set !== undefined ? '[Getter/Setter]' : '[Getter]') : '[Setter]', 'special');
}

function formatProperty(state, value, key, depth) {
  const descriptor = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let text;
  if ('value' in descriptor) {
    state.indentation += 2;
    text = formatValue(state, descriptor.value, depth + 1);
    state.indentation -= 2;
  } else if (descriptor.get !== undefined && state.getters) {
    state.indentation += 2;
    text = `[Getter] ${formatValue(state, value[key], depth + 1)}`;
    state.indentation -= 2;
  } else {
    text = accessor(state, descriptor);
  }
  let name;
  if (typeof key === 'symbol') name = `[${style(state, key.toString(), 'symbol')}]`;
  else if (key === '__proto__') name = "['__proto__']";
  else if (descriptor.enumerable === false) name = `[${key}]`;
  else if (plainKey.test(key)) name = key;
  else name = style(state, quote(key), 'string');
  return `${name}: ${text}`;
}

function width(text) {
  let total = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    if (code >= 0x300 && code <= 0x36f) continue;
    const wide = code >= 0x1100 && (code <= 0x115f || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd));
    total += wide ? 2 : 1;
  }
  return total;
}

function withoutColors(text) {
  return text.includes('\x1b') ? text.replace(/\x1b\[\d+m/g, '') : text;
}

// Prints short items of long arrays in columns.
function group(state, output, value) {
  const count = state.maxArrayLength < output.length ? output.length - 1 : output.length;
  const widths = [];
  let total = 0;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    widths[i] = width(withoutColors(output[i]));
    total += widths[i] + 2;
    longest = Math.max(longest, widths[i]);
  }
  const column = longest + 2;
  if (column * 3 + state.indentation >= state.breakLength || !(total / column > 5 || longest <= 6)) return output;
  const biased = Math.max(column - 3 - Math.sqrt(column - total / output.length), 1);
  const columns = Math.min(
    Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((state.breakLength - state.indentation) / column),
    state.compact * 4,
    15,
  );
  if (columns <= 1) return output;
  const columnWidths = [];
  for (let i = 0; i < columns; i++) {
    let widest = 0;
    for (let j = i; j < count; j += columns) widest = Math.max(widest, widths[j]);
    columnWidths.push(widest + 2);
  }
  let numbers = value !== undefined;
  for (let i = 0; numbers && i < output.length; i++) {
    if (typeof value[i] !== 'number' && typeof value[i] !== 'bigint') numbers = false;
  }
  const lines = [];
  for (let i = 0; i < count; i += columns) {
    const last = Math.min(i + columns, count) - 1;
    let line = '';
    for (let j = i; j <= last; j++) {
      const text = j < last ? `${output[j]}, ` : output[j];
      const wanted = columnWidths[j - i] + output[j].length - widths[j] - (j < last ? 0 : 2);
      line += numbers ? text.padStart(wanted) : j < last ? text.padEnd(wanted) : text;
    }
    lines.push(line);
  }
  if (count < output.length) lines.push(output[count]);
  return lines;
}

function assemble(state, output, base, braces, listed, depth, value) {
  const lead = base === '' ? '' : `${base} `;
  if (state.compact >= 1) {
    const entries = output.length;
    if (listed && entries > 6) output = group(state, output, value);
    if (state.currentDepth - depth < state.compact && entries === output.length) {
      let length = output.length + (output.length + state.indentation + braces[0].length + base.length + 10);
      let fits = length + output.length <= state.breakLength;
      for (let i = 0; fits && i < output.length; i++) {
        length += withoutColors(output[i]).length;
        fits = length <= state.breakLength;
      }
      if (fits && !base.includes('\n')) {
        const joined = output.join(', ');
        if (!joined.includes('\n')) return `${lead}${braces[0]}${joined === '' ? '' : ` ${joined} `}${braces[1]}`;
      }
    }
  }
  const indentation = `\n${' '.repeat(state.indentation)}`;
  return `${lead}${braces[0]}${indentation}  ${output.join(`,${indentation}  `)}${indentation}${braces[1]}`;
}

module.exports = { inspect, width };
