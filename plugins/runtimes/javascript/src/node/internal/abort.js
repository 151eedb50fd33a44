// Events and AbortController, as in browsers.

class DOMException extends Error {
  #name;

  constructor(message = '', name = 'Error') {
    super(message);
    this.#name = typeof name === 'object' ? name.name ?? 'Error' : name;
    if (typeof name === 'object' && 'cause' in name) this.cause = name.cause;
  }

  get name() {
    return this.#name;
  }

  get code() {
    return { AbortError: 20, TimeoutError: 23, DataCloneError: 25, InvalidCharacterError: 5 }[this.#name] ?? 0;
  }
}

class Event {
  constructor(type, options = {}) {
    this.type = `${type}`;
    this.bubbles = options.bubbles === true;
    this.cancelable = options.cancelable === true;
    this.defaultPrevented = false;
    this.target = null;
    this.timeStamp = 0;
  }

  preventDefault() {
    if (this.cancelable) this.defaultPrevented = true;
  }

  stopPropagation() {}

  stopImmediatePropagation() {
    this.stopped = true;
  }
}

class EventTarget {
  #listeners = new Map();

  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    if (list.some((entry) => entry.listener === listener)) return;
    const once = typeof options === 'object' && options?.once === true;
    this.#listeners.set(type, [...list, { listener, once }]);
  }

  removeEventListener(type, listener) {
    this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((entry) => entry.listener !== listener));
  }

  dispatchEvent(event) {
    event.target = this;
    if (typeof this[`on${event.type}`] === 'function') this[`on${event.type}`](event);
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === 'function') listener.call(this, event);
      else listener?.handleEvent(event);
      if (event.stopped) break;
    }
    return !event.defaultPrevented;
  }
}

class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  static abort(reason) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  }

  static timeout(delay) {
    const controller = new AbortController();
    const stop = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    require('timers').setTimeout(stop, delay).unref();
    return controller.signal;
  }

  static any(signals) {
    const controller = new AbortController();
    for (const signal of signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  }
}

class AbortController {
  signal = new AbortSignal();

  abort(reason = new DOMException('This operation was aborted', 'AbortError')) {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.reason = reason;
    this.signal.dispatchEvent(new Event('abort'));
  }
}

module.exports = { DOMException, Event, EventTarget, AbortSignal, AbortController };
