// Type checks that ignore the prototype.

const { kind } = native('values');

const is = (...kinds) => (value) => kinds.includes(kind(value));
const tagged = (tag) => (value) => typeof value === 'object' && value !== null && Object.prototype.toString.call(value) === `[object ${tag}]`;

module.exports = {
  isMap: is('Map'),
  isSet: is('Set'),
  isDate: is('Date'),
  isRegExp: is('RegExp'),
  isPromise: is('Promise'),
  isNativeError: is('Error'),
  isProxy: is('Proxy'),
  isWeakMap: is('WeakMap'),
  isWeakSet: is('WeakSet'),
  isTypedArray: is('TypedArray'),
  isArrayBuffer: is('ArrayBuffer'),
  isAnyArrayBuffer: is('ArrayBuffer'),
  isDataView: is('DataView'),
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isUint8Array: (value) => kind(value) === 'TypedArray' && value[Symbol.toStringTag] === 'Uint8Array',
  isGeneratorObject: is('Generator'),
  isGeneratorFunction: (value) => typeof value === 'function' && /GeneratorFunction$/.test(value[Symbol.toStringTag] ?? ''),
  isAsyncFunction: (value) => typeof value === 'function' && /^Async/.test(value[Symbol.toStringTag] ?? ''),
  isArgumentsObject: tagged('Arguments'),
  isModuleNamespaceObject: tagged('Module'),
  isBoxedPrimitive: (value) => value instanceof Number || value instanceof String || value instanceof Boolean,
  isNumberObject: (value) => value instanceof Number,
  isStringObject: (value) => value instanceof String,
  isBooleanObject: (value) => value instanceof Boolean,
};
