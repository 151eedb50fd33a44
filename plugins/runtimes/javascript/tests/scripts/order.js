const assert = require('assert');

const order = [];
const note = (what) => () => order.push(what);
process.on('exit', (code) => {
  assert.strictEqual(code, 0);
  assert.deepStrictEqual(order, ['now', 'tick', 'promise', 'microtask', 'awaited', 'timer A', 'repeated', 'repeated', 'later']);
});

setTimeout((letter) => order.push(`timer ${letter}`), 0, 'A');
setTimeout(note('later'), 60);
setTimeout(note('never'), 100000).unref();
const cancelled = setTimeout(note('cancelled'), 1);
clearTimeout(cancelled);
let rounds = 0;
const interval = setInterval(() => {
  order.push('repeated');
  if (++rounds === 2) clearInterval(interval);
}, 10);
Promise.resolve().then(note('promise'));
queueMicrotask(note('microtask'));
(async () => {
  await null;
  await null;
  order.push('awaited');
})();
process.nextTick(note('tick'));
order.push('now');
