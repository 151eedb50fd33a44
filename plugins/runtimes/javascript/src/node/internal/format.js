// Formats lines by the rules of Node's `util.format`.

const { kind } = native('values');
const { inspect } = require('internal/inspect');

function format(...values) {
  return formatWithOptions({}, ...values);
}

function formatWithOptions(options, ...values) {
  const first = values[0];
  if (typeof first !== 'string') return values.map((value) => shown(options, value)).join(' ');
  if (values.length === 1) return first;
  let next = 1;
  let text = first;
  if (first.includes('%')) {
    text = first.replace(/%[sdifjoOc%]/g, (directive) => {
      if (directive === '%%') return '%';
      if (next >= values.length) return directive;
      const value = values[next++];
      switch (directive) {
        case '%s': return asText(options, value);
        case '%d': return typeof value === 'bigint' ? `${value}n` : typeof value === 'symbol' ? 'NaN' : shown(options, Number(value));
        case '%i': return typeof value === 'bigint' ? `${value}n` : typeof value === 'symbol' ? 'NaN' : shown(options, parseInt(value, 10));
        case '%f': return typeof value === 'symbol' ? 'NaN' : shown(options, parseFloat(value));
        case '%j': return asJson(value);
        case '%o': return inspect(value, { ...options, showHidden: true, depth: 4 });
        case '%O': return inspect(value, options);
        default: return '';
      }
    });
  }
  for (; next < values.length; next++) text += ` ${shown(options, values[next])}`;
  return text;
}

function shown(options, value) {
  return typeof value === 'string' ? value : inspect(value, options);
}

function asText(options, value) {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' && Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return typeof value === 'function' && !hasOwnText(value) ? inspect(value) : String(value);
  if (hasOwnText(value)) return String(value);
  return inspect(value, { ...options, depth: 0, colors: false });
}

// Whether the value or its class overrides the language's conversion to text.
function hasOwnText(value) {
  if (kind(value) === 'Error' || kind(value) === 'Date') return kind(value) === 'Error';
  for (let object = value; object !== null; object = Object.getPrototypeOf(object)) {
    if (Object.prototype.hasOwnProperty.call(object, 'toString')) {
      return ![Object.prototype, Array.prototype, Function.prototype, Map.prototype, Set.prototype, Date.prototype,
        RegExp.prototype].includes(object);
    }
  }
  return false;
}

function asJson(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (/circular|cyclic/i.test(error.message)) return '[Circular]';
    throw error;
  }
}

module.exports = { format, formatWithOptions };
