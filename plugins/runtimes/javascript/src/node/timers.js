// setTimeout and related functions.

const { start, startImmediate, stop, await: setAwaited, microtask } = native('timers');

const known = new Map();

class Timeout {
  #id;
  #restart;
  #awaited = true;

  constructor(callback, delay, repeats, values) {
    if (typeof callback !== 'function') {
      throw Object.assign(new TypeError('The "callback" argument must be of type function. Received ' + (callback === undefined ? 'undefined' : typeof callback)), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    this.#restart = () => start(Number(delay), repeats, () => {
      if (!repeats) known.delete(this.#id);
      callback(...values);
    });
    this.#begin();
  }

  #begin() {
    this.#id = this.#restart();
    known.set(this.#id, this);
  }

  close() {
    stop(this.#id);
    known.delete(this.#id);
    return this;
  }

  refresh() {
    this.close();
    this.#begin();
    return this;
  }

  ref() {
    this.#awaited = true;
    setAwaited(this.#id, true);
    return this;
  }

  unref() {
    this.#awaited = false;
    setAwaited(this.#id, false);
    return this;
  }

  hasRef() {
    return this.#awaited;
  }

  [Symbol.toPrimitive]() {
    return this.#id;
  }

  [Symbol.dispose ?? Symbol.for('dispose')]() {
    this.close();
  }
}

class Immediate {
  #id;

  constructor(callback, values) {
    this.#id = startImmediate(callback, ...values);
  }

  close() {
    stop(this.#id);
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  hasRef() {
    return true;
  }
}

function clear(timer) {
  if (timer instanceof Timeout || timer instanceof Immediate) timer.close();
  else if (timer !== undefined && timer !== null) known.get(Number(timer))?.close();
}

module.exports = {
  setTimeout: (callback, delay, ...values) => new Timeout(callback, delay, false, values),
  setInterval: (callback, delay, ...values) => new Timeout(callback, delay, true, values),
  setImmediate: (callback, ...values) => new Immediate(callback, values),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
  queueMicrotask: (callback) => microtask(callback),
  get promises() {
    return require('timers/promises');
  },
};
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']) {
  Object.defineProperty(module.exports[name], 'name', { value: name });
}
Object.defineProperty(module.exports.setTimeout, Symbol.for('nodejs.util.promisify.custom'), {
  value: (delay, value) => require('timers/promises').setTimeout(delay, value),
});
