import assert from 'node:assert/strict';
import fs, { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import name, { count, increase } from './library/counter.mjs';
import first from './library/first.cjs';

assert.equal(name, 'counter');
increase();
assert.equal(count, 1, 'bindings are live');
assert.equal(first.late, 2, 'a cycle sees what is there');
assert.equal(first.folder, `${import.meta.dirname}/library`);
assert.equal(existsSync, fs.existsSync);
assert.equal(dirname(fileURLToPath(import.meta.url)), import.meta.dirname);
assert.equal(basename(import.meta.filename), 'modules.mjs');
assert.equal(import.meta.url, pathToFileURL(import.meta.filename).href);

const require = createRequire(import.meta.url);
assert.deepEqual(require('./library/data.json'), { list: [1, 2, 3] });
assert.equal(require('./library/package'), 'the main file');
assert.equal(require('./library/first.cjs'), first, 'both ways lead to one module');

const { default: again } = await import('./library/counter.mjs');
assert.equal(again, 'counter');
await assert.rejects(import('./library/nowhere.mjs'), { code: 'ERR_MODULE_NOT_FOUND' });
assert.throws(() => require('./library/nowhere'), { code: 'MODULE_NOT_FOUND' });
assert.equal(typeof module, 'undefined');
