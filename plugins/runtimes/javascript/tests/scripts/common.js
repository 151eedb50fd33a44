#!/usr/bin/env node
const assert = require('assert');
const path = require('path');

assert.strictEqual(require.main, module);
assert.strictEqual(this, module.exports);
assert.strictEqual(path.join(__dirname, 'common.js'), __filename);
assert.strictEqual(require.resolve('./library/data'), path.join(__dirname, 'library/data.json'));
assert.ok(Object.keys(require.cache).includes(__filename));
assert.deepStrictEqual(process.argv.slice(1), [__filename]);
if (true) {
  function hoisted() {
    return 'sloppy mode';
  }
}
assert.strictEqual(hoisted(), 'sloppy mode');
import('./library/counter.mjs').then(({ default: name }) => assert.strictEqual(name, 'counter'));
