// Commonly used parts of `util`.

const { inspect } = require('internal/inspect');
const { format, formatWithOptions } = require('internal/format');

const custom = Symbol.for('nodejs.util.promisify.custom');

function promisify(original) {
  if (typeof original !== 'function') {
    throw Object.assign(new TypeError('The "original" argument must be of type function'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  if (original[custom]) return original[custom];
  const promised = function (...values) {
    return new Promise((resolve, reject) => {
      original.call(this, ...values, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
  return Object.defineProperty(promised, 'name', { value: original.name });
}
promisify.custom = custom;

function callbackify(original) {
  return function (...values) {
    const callback = values.pop();
    const { nextTick } = require('process');
    original.apply(this, values).then((value) => nextTick(callback, null, value), (error) => nextTick(callback, error));
  };
}

function inherits(constructor, parent) {
  Object.defineProperty(constructor, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

function deprecate(perform, message) {
  let warned = false;
  return function (...values) {
    if (!warned) require('process').emitWarning(message, 'DeprecationWarning');
    warned = true;
    return new.target ? Reflect.construct(perform, values, new.target) : perform.apply(this, values);
  };
}

function argumentError(code, message) {
  return Object.assign(new TypeError(message), { code });
}

function parseArgs(config = {}) {
  const { options = {}, strict = true, tokens: wantsTokens = false } = config;
  const args = config.args ?? require('process').argv.slice(2);
  const positionalsAllowed = config.allowPositionals ?? !strict;
  const values = Object.create(null);
  const positionals = [];
  const tokens = [];
  const longOf = (short) => Object.keys(options).find((name) => options[name].short === short);
  const store = (name, value, shown) => {
    const option = options[name];
    if (strict && option === undefined) throw argumentError('ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${shown}'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${shown}"`);
    if (strict && option.type === 'string' && typeof value !== 'string') throw argumentError('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${shown} <value>' argument missing`);
    if (strict && option.type === 'boolean' && typeof value === 'string') throw argumentError('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${shown}' does not take an argument`);
    tokens.push({ kind: 'option', name, rawName: shown, value: value === true ? undefined : value });
    if (option?.multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };
  for (let i = 0; i < args.length; i++) {
    const arg = `${args[i]}`;
    const takesNext = (name) => options[name]?.type === 'string' && i + 1 < args.length;
    if (arg === '--') {
      positionals.push(...args.slice(i + 1));
      break;
    } else if (arg.startsWith('--')) {
      const at = arg.indexOf('=');
      const name = at === -1 ? arg.slice(2) : arg.slice(2, at);
      if (at !== -1) store(name, arg.slice(at + 1), `--${name}`);
      else if (config.allowNegative && name.startsWith('no-') && options[name.slice(3)]?.type === 'boolean') store(name.slice(3), false, arg);
      else store(name, takesNext(name) ? args[++i] : true, arg);
    } else if (arg.startsWith('-') && arg.length > 1) {
      for (let j = 1; j < arg.length; j++) {
        const name = longOf(arg[j]) ?? arg[j];
        if (options[name]?.type === 'string' && j + 1 < arg.length) {
          store(name, arg.slice(j + 1), `-${arg[j]}`);
          break;
        }
        store(name, takesNext(name) ? args[++i] : true, `-${arg[j]}`);
      }
    } else {
      if (!positionalsAllowed) throw argumentError('ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${arg}'. This command does not take positional arguments`);
      positionals.push(arg);
      tokens.push({ kind: 'positional', index: i, value: arg });
    }
  }
  for (const [name, option] of Object.entries(options)) {
    if (option.default !== undefined && values[name] === undefined) values[name] = option.default;
  }
  return wantsTokens ? { values, positionals, tokens } : { values, positionals };
}

function styleText(styles, text) {
  return text;
}

module.exports = {
  inspect,
  format,
  formatWithOptions,
  promisify,
  callbackify,
  inherits,
  deprecate,
  parseArgs,
  styleText,
  debuglog: () => Object.assign(() => {}, { enabled: false }),
  debug: () => Object.assign(() => {}, { enabled: false }),
  stripVTControlCharacters: (text) => text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, ''),
  toUSVString: (text) => `${text}`.toWellFormed(),
  isDeepStrictEqual: (left, right) => require('assert').isDeepEqual(left, right, true),
  isArray: Array.isArray,
  get types() {
    return require('util/types');
  },
  get TextEncoder() {
    return require('internal/text').TextEncoder;
  },
  get TextDecoder() {
    return require('internal/text').TextDecoder;
  },
};
