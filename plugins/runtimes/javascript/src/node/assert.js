// Assertions.

const { kind } = native('values');
const { inspect } = require('internal/inspect');

class AssertionError extends Error {
  constructor({ message, actual, expected, operator, generated = message === undefined }) {
    super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`);
    Object.assign(this, { generatedMessage: generated, code: 'ERR_ASSERTION', actual, expected, operator });
  }

  get name() {
    return 'AssertionError';
  }
}

function isDeepEqual(left, right, strict, seen = new Map()) {
  if (strict ? Object.is(left, right) : left == right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (strict && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  const type = kind(left);
  if (type !== kind(right)) return false;
  if (seen.get(left) === right) return true;
  seen.set(left, right);
  const same = (a, b) => isDeepEqual(a, b, strict, seen);
  if (type === 'Date' && left.getTime() !== right.getTime()) return false;
  if (type === 'RegExp' && `${left}` !== `${right}`) return false;
  if (type === 'Error' && (left.message !== right.message || left.name !== right.name)) return false;
  if (type === 'Array' && left.length !== right.length) return false;
  if ((left instanceof Number || left instanceof String || left instanceof Boolean) && !Object.is(left.valueOf(), right.valueOf())) return false;
  if (type === 'TypedArray') return left.length === right.length && left.every((item, index) => Object.is(item, right[index]));
  if (type === 'Map') {
    if (left.size !== right.size) return false;
    for (const [key, value] of left) {
      const other = right.has(key) ? key : [...right.keys()].find((candidate) => typeof key === 'object' && same(key, candidate));
      if (other === undefined && !right.has(key)) return false;
      if (!same(value, right.get(other))) return false;
    }
  }
  if (type === 'Set') {
    if (left.size !== right.size) return false;
    for (const value of left) {
      if (!right.has(value) && !(typeof value === 'object' && [...right].some((candidate) => same(value, candidate)))) return false;
    }
  }
  const keys = (object) => [...Object.keys(object), ...(strict ? Object.getOwnPropertySymbols(object).filter((symbol) => Object.prototype.propertyIsEnumerable.call(object, symbol)) : [])];
  const own = keys(left);
  return own.length === keys(right).length && own.every((key) => Object.prototype.hasOwnProperty.call(right, key) && same(left[key], right[key]));
}

// Prints the lines of both sides and marks where they differ.
function difference(actual, expected) {
  const show = (value) => inspect(value, { depth: 1000, maxArrayLength: Infinity, compact: false, sorted: true }).split('\n');
  const [left, right] = [show(actual), show(expected)];
  const lengths = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i][j] = left[i] === right[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) [i, j] = [i + 1, (lines.push(`  ${left[i]}`), j + 1)];
    else if (i < left.length && (j === right.length || lengths[i + 1][j] >= lengths[i][j + 1])) lines.push(`+ ${left[i++]}`);
    else lines.push(`- ${right[j++]}`);
  }
  return lines.join('\n');
}

function check(passed, values, operator, title) {
  if (passed) return;
  const [actual, expected, message] = values;
  if (message instanceof Error) throw message;
  const bySide = /^(strictEqual|deepEqual|deepStrictEqual)$/.test(operator);
  const simple = [actual, expected].every((value) => typeof value !== 'object' || value === null);
  const generated = bySide && simple && operator === 'strictEqual' ? `${title}\n\n${inspect(actual)} !== ${inspect(expected)}\n`
    : bySide ? `${title}\n+ actual - expected\n\n${difference(actual, expected)}` : title;
  throw new AssertionError({ message: message ?? generated, generated: message === undefined, actual, expected, operator });
}

function assert(value, message) {
  ok(...(arguments.length === 0 ? [undefined, 'No value argument passed to `assert.ok()`'] : [value, message]));
}

function ok(value, message) {
  if (value) return;
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? 'The expression evaluated to a falsy value', generated: message === undefined, actual: value, expected: true, operator: '==' });
}

function matches(error, expected, message) {
  if (expected === undefined || typeof expected === 'string') return;
  if (expected instanceof RegExp) {
    if (expected.test(`${error}`)) return;
    throw new AssertionError({ message: message ?? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(`${error}`)}\n`, actual: error, expected, operator: 'throws' });
  }
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (expected === Error || Error.isPrototypeOf(expected)) throw error;
    if (expected.call({}, error) === true) return;
    throw new AssertionError({ message: message ?? 'The validation function is expected to return "true".', actual: error, expected, operator: 'throws' });
  }
  for (const key of Object.keys(expected)) {
    const fits = expected[key] instanceof RegExp && typeof error?.[key] === 'string' ? expected[key].test(error[key]) : isDeepEqual(error?.[key], expected[key], true);
    if (!fits) throw new AssertionError({ message: message ?? `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${difference({ [key]: error?.[key] }, { [key]: expected[key] })}\n`, actual: error, expected, operator: 'throws' });
  }
}

const missing = (name, expected, message) => new AssertionError({
  message: `Missing expected ${name === 'throws' ? 'exception' : 'rejection'}${expected?.name ? ` (${expected.name})` : ''}${typeof (message ?? expected) === 'string' ? `: ${message ?? expected}` : '.'}`,
  actual: undefined, expected, operator: name,
});
const unwanted = (error, message, name) => new AssertionError({
  message: `Got unwanted ${name === 'doesNotThrow' ? 'exception' : 'rejection'}${typeof message === 'string' ? `: ${message}` : '.'}\nActual message: "${error?.message}"`,
  actual: error, operator: name,
});

Object.assign(assert, {
  AssertionError,
  ok,
  isDeepEqual,
  equal: (...values) => check(values[0] == values[1] || (Number.isNaN(values[0]) && Number.isNaN(values[1])), values, '==', `${inspect(values[0])} == ${inspect(values[1])}`),
  notEqual: (...values) => check(values[0] != values[1], values, '!=', `${inspect(values[0])} != ${inspect(values[1])}`),
  strictEqual: (...values) => check(Object.is(values[0], values[1]), values, 'strictEqual', 'Expected values to be strictly equal:'),
  notStrictEqual: (...values) => check(!Object.is(values[0], values[1]), values, 'notStrictEqual', `Expected "actual" to be strictly unequal to: ${inspect(values[1])}`),
  deepEqual: (...values) => check(isDeepEqual(values[0], values[1], false), values, 'deepEqual', 'Expected values to be loosely deep-equal:'),
  deepStrictEqual: (...values) => check(isDeepEqual(values[0], values[1], true), values, 'deepStrictEqual', 'Expected values to be strictly deep-equal:'),
  notDeepEqual: (...values) => check(!isDeepEqual(values[0], values[1], false), values, 'notDeepEqual', `Expected "actual" not to be loosely deep-equal to: ${inspect(values[1])}`),
  notDeepStrictEqual: (...values) => check(!isDeepEqual(values[0], values[1], true), values, 'notDeepStrictEqual', `Expected "actual" not to be strictly deep-equal to: ${inspect(values[1])}`),
  match: (text, pattern, message) => check(pattern.test(text), [text, pattern, message], 'match', `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`),
  doesNotMatch: (text, pattern, message) => check(!pattern.test(text), [text, pattern, message], 'doesNotMatch', `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`),
  fail(message = 'Failed') {
    if (message instanceof Error) throw message;
    throw new AssertionError({ message, generated: message === 'Failed', operator: 'fail' });
  },
  ifError(value) {
    if (value !== null && value !== undefined) throw new AssertionError({ message: `ifError got unwanted exception: ${value?.message ?? inspect(value)}`, actual: value, expected: null, operator: 'ifError' });
  },
  throws(perform, expected, message) {
    try {
      perform();
    } catch (error) {
      return matches(error, expected, message);
    }
    throw missing('throws', expected, message);
  },
  doesNotThrow(perform, expected, message) {
    try {
      perform();
    } catch (error) {
      throw unwanted(error, message ?? expected, 'doesNotThrow');
    }
  },
  async rejects(promised, expected, message) {
    try {
      await (typeof promised === 'function' ? promised() : promised);
    } catch (error) {
      return matches(error, expected, message);
    }
    throw missing('rejects', expected, message);
  },
  async doesNotReject(promised, expected, message) {
    try {
      await (typeof promised === 'function' ? promised() : promised);
    } catch (error) {
      throw unwanted(error, message ?? expected, 'doesNotReject');
    }
  },
});

assert.strict = Object.assign((...values) => assert(...values), assert, {
  equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;

module.exports = assert;
