// structuredClone.

const { kind } = native('values');

function refuse(value) {
  const { DOMException } = require('internal/abort');
  const shown = typeof value === 'symbol' ? value.toString() : typeof value === 'function' ? `${value}` : '#<Object>';
  throw new DOMException(`${shown} could not be cloned.`, 'DataCloneError');
}

function copy(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') refuse(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (result) => {
    seen.set(value, result);
    return result;
  };
  switch (kind(value)) {
    case 'Date': return keep(new Date(value.getTime()));
    case 'RegExp': return keep(new RegExp(value.source, value.flags));
    case 'ArrayBuffer': return keep(value.slice(0));
    case 'TypedArray': {
      const buffer = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
      const type = globalThis[value[Symbol.toStringTag]];
      return keep(new type(buffer));
    }
    case 'DataView': return keep(new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength)));
    case 'Map': {
      const result = keep(new Map());
      for (const [key, item] of value) result.set(copy(key, seen), copy(item, seen));
      return result;
    }
    case 'Set': {
      const result = keep(new Set());
      for (const item of value) result.add(copy(item, seen));
      return result;
    }
    case 'Error': {
      const type = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[value.name] ?? Error;
      const result = keep(new type(value.message));
      if ('cause' in value) Object.defineProperty(result, 'cause', { value: copy(value.cause, seen), configurable: true, writable: true });
      return result;
    }
    case 'Array': {
      const result = keep(new Array(value.length));
      for (const key of Object.keys(value)) result[key] = copy(value[key], seen);
      return result;
    }
    case 'Object': {
      if (value instanceof Number || value instanceof String || value instanceof Boolean) return keep(Object(value.valueOf()));
      const result = keep({});
      for (const key of Object.keys(value)) result[key] = copy(value[key], seen);
      return result;
    }
    default: return refuse(value);
  }
}

module.exports = { structuredClone: (value) => copy(value, new Map()) };
