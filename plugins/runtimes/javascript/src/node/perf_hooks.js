// Time since the script started, with marks and measures.

const { nanoseconds } = native('process');

class Performance {
  #entries = [];

  get timeOrigin() {
    return Date.now() - this.now();
  }

  now() {
    return nanoseconds() / 1e6;
  }

  mark(name, options) {
    return this.#add({ name, entryType: 'mark', startTime: options?.startTime ?? this.now(), duration: 0, detail: options?.detail ?? null });
  }

  measure(name, from, to) {
    const options = typeof from === 'object' && from !== null ? from : { start: from, end: to };
    const time = (mark, fallback) => (typeof mark === 'number' ? mark
      : mark === undefined ? fallback : this.#entries.findLast((entry) => entry.name === mark)?.startTime ?? fallback);
    const start = time(options.start, 0);
    const end = time(options.end, this.now());
    return this.#add({ name, entryType: 'measure', startTime: start, duration: end - start, detail: options.detail ?? null });
  }

  #add(entry) {
    this.#entries.push(entry);
    return entry;
  }

  getEntries() {
    return [...this.#entries];
  }

  getEntriesByName(name, type) {
    return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }

  getEntriesByType(type) {
    return this.#entries.filter((entry) => entry.entryType === type);
  }

  clearMarks(name) {
    this.#entries = this.#entries.filter((entry) => entry.entryType !== 'mark' || (name !== undefined && entry.name !== name));
  }

  clearMeasures(name) {
    this.#entries = this.#entries.filter((entry) => entry.entryType !== 'measure' || (name !== undefined && entry.name !== name));
  }

  toJSON() {
    return { timeOrigin: this.timeOrigin };
  }
}

module.exports = { performance: new Performance(), Performance };
