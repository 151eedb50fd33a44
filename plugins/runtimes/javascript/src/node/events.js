// EventEmitter.

// A function, because older code calls it without `new`.
function Emitter() {
  if (!Object.prototype.hasOwnProperty.call(this, '_events')) {
    Object.defineProperty(this, '_events', { value: new Map(), writable: true, configurable: true });
  }
}

function events(emitter) {
  if (!Object.prototype.hasOwnProperty.call(emitter, '_events')) Emitter.call(emitter);
  return emitter._events;
}

function add(emitter, name, listener, first) {
  if (typeof listener !== 'function') {
    throw Object.assign(new TypeError('The "listener" argument must be of type function'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  const map = events(emitter);
  if (map.has('newListener')) emitter.emit('newListener', name, listener.listener ?? listener);
  const list = map.get(name) ?? [];
  map.set(name, first ? [listener, ...list] : [...list, listener]);
  return emitter;
}

function wrapOnce(emitter, name, listener) {
  const wrapped = function (...values) {
    emitter.removeListener(name, wrapped);
    return listener.apply(this, values);
  };
  wrapped.listener = listener;
  return wrapped;
}

Object.assign(Emitter.prototype, {
  on(name, listener) {
    return add(this, name, listener, false);
  },
  addListener(name, listener) {
    return this.on(name, listener);
  },
  prependListener(name, listener) {
    return add(this, name, listener, true);
  },
  once(name, listener) {
    return this.on(name, wrapOnce(this, name, listener));
  },
  prependOnceListener(name, listener) {
    return this.prependListener(name, wrapOnce(this, name, listener));
  },
  off(name, listener) {
    return this.removeListener(name, listener);
  },
  removeListener(name, listener) {
    const map = events(this);
    const list = map.get(name) ?? [];
    const index = list.findLastIndex((other) => other === listener || other.listener === listener);
    if (index >= 0) {
      const rest = list.toSpliced(index, 1);
      if (rest.length > 0) map.set(name, rest);
      else map.delete(name);
      if (map.has('removeListener')) this.emit('removeListener', name, listener);
    }
    return this;
  },
  removeAllListeners(name) {
    if (name === undefined) events(this).clear();
    else events(this).delete(name);
    return this;
  },
  emit(name, ...values) {
    const list = events(this).get(name);
    if (list === undefined) {
      if (name !== 'error') return false;
      if (values[0] instanceof Error) throw values[0];
      const error = new Error(`Unhandled error. (${require('internal/inspect').inspect(values[0])})`);
      throw Object.assign(error, { code: 'ERR_UNHANDLED_ERROR', context: values[0] });
    }
    for (const listener of list) listener.apply(this, values);
    return true;
  },
  listeners(name) {
    return (events(this).get(name) ?? []).map((listener) => listener.listener ?? listener);
  },
  rawListeners(name) {
    return [...(events(this).get(name) ?? [])];
  },
  listenerCount(name) {
    return events(this).get(name)?.length ?? 0;
  },
  eventNames() {
    return [...events(this).keys()];
  },
  setMaxListeners() {
    return this;
  },
  getMaxListeners() {
    return Emitter.defaultMaxListeners;
  },
});
for (const name of Object.keys(Emitter.prototype)) Object.defineProperty(Emitter.prototype, name, { enumerable: false });
Object.defineProperty(Emitter, 'name', { value: 'EventEmitter' });

Emitter.defaultMaxListeners = 10;
Emitter.EventEmitter = Emitter;
Emitter.once = (emitter, name) => new Promise((resolve, reject) => {
  const fail = (error) => {
    emitter.removeListener(name, done);
    reject(error);
  };
  const done = (...values) => {
    if (name !== 'error') emitter.removeListener('error', fail);
    resolve(values);
  };
  emitter.once(name, done);
  if (name !== 'error') emitter.once('error', fail);
});
Emitter.on = async function* (emitter, name) {
  const queue = [];
  let wake = () => {};
  const listener = (...values) => {
    queue.push(values);
    wake();
  };
  emitter.on(name, listener);
  try {
    for (;;) {
      while (queue.length > 0) yield queue.shift();
      await new Promise((resolve) => { wake = resolve; });
    }
  } finally {
    emitter.off(name, listener);
  }
};
Emitter.listenerCount = (emitter, name) => emitter.listenerCount(name);
Emitter.setMaxListeners = () => {};

module.exports = Emitter;
