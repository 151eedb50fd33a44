const assert = require('assert');
const { format, inspect } = require('util');

const shown = [
  [{ a: 1, b: [1, 2], c: { d: { e: { f: 1 } } } }, '{ a: 1, b: [ 1, 2 ], c: { d: { e: [Object] } } }'],
  [[1, 'two', { three: 3 }], '[ 1, \'two\', { three: 3 } ]'],
  [new Map([['a', 1], ['b', { c: 2 }]]), 'Map(2) { \'a\' => 1, \'b\' => { c: 2 } }'],
  [new Set([1, 'x']), 'Set(2) { 1, \'x\' }'],
  [[undefined, null, NaN, -0, 1n, Symbol('s')], '[ undefined, null, NaN, -0, 1n, Symbol(s) ]'],
  [Object.create(null), '[Object: null prototype] {}'],
  [[, 1, , 2], '[ <1 empty item>, 1, <1 empty item>, 2 ]'],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [/re/g, '/re/g'],
  [new (class Foo { x = 1; get y() { return 2; } })(), 'Foo { x: 1 }'],
  [class Foo {}, '[class Foo]'],
  [class Bar extends Array {}, '[class Bar extends Array]'],
  [function bar() {}, '[Function: bar]'],
  [() => {}, '[Function (anonymous)]'],
  [async () => {}, '[AsyncFunction (anonymous)]'],
  [function* gen() {}, '[GeneratorFunction: gen]'],
  [Array.from({ length: 120 }, (_, i) => i), '[\n   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,\n  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,\n  24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,\n  36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,\n  48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,\n  60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71,\n  72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83,\n  84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,\n  96, 97, 98, 99,\n  ... 20 more items\n]'],
  [['apple', 'banana', 'cherry', 'date', 'elderberry', 'fig', 'grape', 'honeydew'], '[\n  \'apple\',\n  \'banana\',\n  \'cherry\',\n  \'date\',\n  \'elderberry\',\n  \'fig\',\n  \'grape\',\n  \'honeydew\'\n]'],
  [{ name: 'a long name here', description: 'some long description text', tags: ['x', 'y'], n: 12345678 }, '{\n  name: \'a long name here\',\n  description: \'some long description text\',\n  tags: [ \'x\', \'y\' ],\n  n: 12345678\n}'],
  [{ f() {}, [Symbol('k')]: 1, 'a-b': 2, get z() { return 1; }, set z(v) {} }, '{ f: [Function: f], \'a-b\': 2, z: [Getter/Setter], [Symbol(k)]: 1 }'],
  [["it's", 'say "hi"', 'a\nb'], '[ "it\'s", \'say "hi"\', \'a\\nb\' ]'],
  [new Uint8Array([1, 2, 3]), 'Uint8Array(3) [ 1, 2, 3 ]'],
  [Buffer.from('hey'), '<Buffer 68 65 79>'],
  [Promise.resolve(4), 'Promise { 4 }'],
  [new Proxy({ a: 1 }, {}), '{ a: 1 }'],
  [Object.assign(() => {}, { a: 1 }), '[Function (anonymous)] { a: 1 }'],
  [new Number(3), '[Number: 3]'],
  [new String('abc'), '[String: \'abc\']'],
  [(() => { const o = { n: 1 }; o.self = o; return o; })(), '<ref *1> { n: 1, self: [Circular *1] }'],
  [Object.assign(Object.create({ constructor: class Point {} }), { x: 1 }), '{ x: 1 }'],
  [{ a: {}, b: [] }, '{ a: {}, b: [] }'],
  ['text', '\'text\''],
];
for (const [value, text] of shown) assert.strictEqual(inspect(value), text);

assert.strictEqual(format('%s is %d, %i, %j %o %%', 'Bob', 42.5, 42.9, { a: 1 }, [1], 'more'), "Bob is 42.5, 42, {\"a\":1} [ 1, [length]: 1 ] % more");
assert.strictEqual(format('%s', { x: { y: 1 } }, [1, [2]], null), "{ x: [Object] } [ 1, [ 2 ] ] null");
