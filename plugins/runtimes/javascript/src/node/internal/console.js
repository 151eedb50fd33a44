// The methods of `console` that need more than one line of text.

const { inspect, width } = require('internal/inspect');
const { format } = require('internal/format');
const { indent, nanoseconds } = native('process');

const counts = new Map();
const times = new Map();
let indentation = '';

function setIndentation(text) {
  indentation = text;
  indent(text);
}

const methods = {
  dir(value, options) {
    console.log(inspect(value, { customInspect: false, ...options }));
  },
  dirxml(...values) {
    console.log(...values);
  },
  assert(condition, ...values) {
    if (condition) return;
    if (typeof values[0] === 'string') values[0] = `Assertion failed: ${values[0]}`;
    else values.unshift('Assertion failed');
    console.warn(...values);
  },
  count(label = 'default') {
    label = `${label}`;
    counts.set(label, (counts.get(label) ?? 0) + 1);
    console.log(`${label}: ${counts.get(label)}`);
  },
  countReset(label = 'default') {
    counts.delete(`${label}`);
  },
  time(label = 'default') {
    times.set(`${label}`, nanoseconds());
  },
  timeEnd(label = 'default') {
    methods.timeLog(label);
    times.delete(`${label}`);
  },
  timeLog(label = 'default', ...values) {
    const start = times.get(`${label}`);
    if (start === undefined) {
      console.warn(`Warning: No such label '${label}' for console.timeLog()`);
      return;
    }
    console.log(`${label}: ${duration((nanoseconds() - start) / 1e6)}`, ...values);
  },
  timeStamp() {},
  group(...values) {
    if (values.length > 0) console.log(...values);
    setIndentation(indentation + '  ');
  },
  groupCollapsed(...values) {
    methods.group(...values);
  },
  groupEnd() {
    setIndentation(indentation.slice(2));
  },
  trace(...values) {
    const frames = new Error().stack.split('\n').slice(1).filter((frame) => !frame.includes('node:internal/console'));
    console.error(['Trace' + (values.length > 0 ? `: ${format(...values)}` : ''), ...frames].join('\n'));
  },
  table(data, columns) {
    if (data === null || typeof data !== 'object') {
      console.log(data);
      return;
    }
    console.log(table(data, columns));
  },
};

function duration(milliseconds) {
  if (milliseconds >= 60000) return `${Math.floor(milliseconds / 60000)}:${((milliseconds % 60000) / 1000).toFixed(3).padStart(6, '0')} (m:ss.mmm)`;
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(3)}s`;
  return `${Number(milliseconds.toFixed(3))}ms`;
}

function table(data, columns) {
  const show = (value) => inspect(value, { depth: value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
  const isMap = data instanceof Map;
  const isSet = data instanceof Set;
  const rows = isMap ? [...data].map(([key, value], index) => [`${index}`, value, key])
    : isSet ? [...data].map((value, index) => [`${index}`, value])
      : Object.keys(data).map((key) => [key, data[key]]);
  const names = [];
  let hasValues = false;
  for (const [, row] of rows) {
    if (row !== null && typeof row === 'object' && !isMap) {
      for (const key of columns ?? Object.keys(row)) if (!names.includes(key)) names.push(key);
    } else {
      hasValues = true;
    }
  }
  const head = [isMap || isSet ? '(iteration index)' : '(index)', ...(isMap ? ['Key'] : []), ...names, ...(hasValues ? ['Values'] : [])];
  const lines = rows.map(([key, row, mapKey]) => {
    const isRow = row !== null && typeof row === 'object' && !isMap;
    const cells = names.map((name) => (isRow && Object.prototype.hasOwnProperty.call(row, name) ? show(row[name]) : ''));
    if (hasValues) cells.push(isRow ? '' : show(row));
    return [key, ...(isMap ? [show(mapKey)] : []), ...cells];
  });
  const widths = head.map((title, index) => Math.max(width(title), ...lines.map((line) => width(line[index]))) + 2);
  const cell = (text, size) => ` ${text}${' '.repeat(size - width(text) - 1)}`;
  const rule = (left, middle, right) => left + widths.map((size) => '─'.repeat(size)).join(middle) + right;
  const row = (cells) => `│${cells.map((text, index) => cell(text, widths[index])).join('│')}│`;
  return [rule('┌', '┬', '┐'), row(head), rule('├', '┼', '┤'), ...lines.map(row), rule('└', '┴', '┘')].join('\n');
}

module.exports = methods;
