const assert = require('assert');
const fs = require('fs');
const path = require('path');

const folder = fs.mkdtempSync('/tmp/runtime-javascript-');
const at = (...parts) => path.join(folder, ...parts);
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));

fs.writeFileSync(at('a.txt'), 'hällo\n');
fs.appendFileSync(at('a.txt'), Buffer.from('world'));
assert.strictEqual(fs.readFileSync(at('a.txt'), 'utf8'), 'hällo\nworld');
assert.strictEqual(fs.readFileSync(at('a.txt')).length, 12);
assert.strictEqual(fs.mkdirSync(at('x/y'), { recursive: true }), at('x'));
fs.writeFileSync(at('x/y/b.json'), '{}');
assert.deepStrictEqual(fs.readdirSync(folder), ['a.txt', 'x']);
assert.deepStrictEqual(fs.readdirSync(folder, { recursive: true }).sort(), ['a.txt', 'x', 'x/y', 'x/y/b.json']);
assert.deepStrictEqual(fs.readdirSync(folder, { withFileTypes: true }).map((entry) => entry.isDirectory()), [false, true]);
const stats = fs.statSync(at('a.txt'));
assert.ok(stats.isFile() && stats.size === 12 && Math.abs(Date.now() - stats.mtimeMs) < 60000);

const errors = [
  [() => fs.readFileSync(at('no')), 'ENOENT', `ENOENT: no such file or directory, open '${at('no')}'`],
  [() => fs.readFileSync(folder), 'EISDIR', 'EISDIR: illegal operation on a directory, read'],
  [() => fs.mkdirSync(at('x')), 'EEXIST', `EEXIST: file already exists, mkdir '${at('x')}'`],
  [() => fs.rmdirSync(at('x')), 'ENOTEMPTY', `ENOTEMPTY: directory not empty, rmdir '${at('x')}'`],
  [() => fs.readdirSync(at('a.txt')), 'ENOTDIR', `ENOTDIR: not a directory, scandir '${at('a.txt')}'`],
  [() => fs.renameSync(at('no'), at('b')), 'ENOENT', `ENOENT: no such file or directory, rename '${at('no')}' -> '${at('b')}'`],
  [() => fs.writeFileSync(at('a.txt'), '', { flag: 'wx' }), 'EEXIST', `EEXIST: file already exists, open '${at('a.txt')}'`],
];
for (const [perform, code, message] of errors) assert.throws(perform, { code, message });

fs.cpSync(at('x'), at('z'), { recursive: true });
assert.ok(fs.existsSync(at('z/y/b.json')));
const file = fs.openSync(at('w.txt'), 'w+');
fs.writeSync(file, 'abcdef');
const bytes = Buffer.alloc(3);
assert.strictEqual(fs.readSync(file, bytes, 0, 3, 2), 3);
assert.strictEqual(bytes.toString(), 'cde');
fs.closeSync(file);
assert.strictEqual(fs.readFileSync(0, 'utf8'), '');
process.chdir(folder);
assert.strictEqual(fs.readFileSync('w.txt', 'utf8'), 'abcdef', 'relative paths start at the working folder');

fs.readFile(at('no'), (error) => assert.strictEqual(error.code, 'ENOENT'));
(async () => {
  await fs.promises.writeFile(at('lines.txt'), 'one\ntwo\r\nthree');
  const lines = [];
  for await (const line of require('readline').createInterface({ input: fs.createReadStream(at('lines.txt')) })) lines.push(line);
  assert.deepStrictEqual(lines, ['one', 'two', 'three']);
  await assert.rejects(fs.promises.stat(at('no')), { code: 'ENOENT', syscall: 'stat' });
})();
