// Timers with promises.

const timers = require('timers');

function wait(begin, end, value, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = begin(() => resolve(value));
    signal?.addEventListener('abort', () => {
      end(timer);
      reject(signal.reason);
    });
  });
}

const later = (delay, value, options) => wait((done) => timers.setTimeout(done, delay), timers.clearTimeout, value, options?.signal);

module.exports = {
  setTimeout: later,
  setImmediate: (value, options) => wait((done) => timers.setImmediate(done), timers.clearImmediate, value, options?.signal),
  async* setInterval(delay, value) {
    for (;;) {
      await later(delay);
      yield value;
    }
  },
  scheduler: { wait: (delay, options) => later(delay, undefined, options), yield: () => module.exports.setImmediate() },
};
