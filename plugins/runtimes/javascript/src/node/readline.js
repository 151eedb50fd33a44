// Reads lines of a stream. A question is answered by the next line.

const EventEmitter = require('events');

class Interface extends EventEmitter {
  #rest = '';
  #lines = [];
  #wake = () => {};
  #question;

  constructor(input, output) {
    super();
    this.closed = false;
    this.terminal = false;
    this.line = '';
    this.input = input;
    this.output = output;
    const { StringDecoder } = require('string_decoder');
    const decoder = new StringDecoder('utf8');
    input?.on('data', (chunk) => this.#take(decoder.write(chunk)));
    input?.on('error', (error) => this.emit('error', error));
    input?.on('end', () => {
      if (this.#rest !== '') this.#line(this.#rest);
      this.#rest = '';
      this.close();
    });
  }

  #take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    lines.forEach((line) => this.#line(line));
  }

  #line(line) {
    if (this.#question) {
      const answer = this.#question;
      this.#question = undefined;
      answer(line);
      return;
    }
    this.#lines.push(line);
    this.emit('line', line);
    this.#wake();
  }

  question(query, options, callback = options) {
    this.output?.write(query);
    this.#question = callback;
  }

  prompt() {}

  setPrompt() {}

  write() {}

  pause() {
    return this;
  }

  resume() {
    return this;
  }

  close() {
    if (this.closed) return;
    this.closed = true;
    this.emit('close');
    this.#wake();
  }

  async* [Symbol.asyncIterator]() {
    for (;;) {
      while (this.#lines.length > 0) yield this.#lines.shift();
      if (this.closed) return;
      await new Promise((resolve) => { this.#wake = resolve; });
    }
  }
}

module.exports = {
  Interface,
  createInterface: (first, output) => (first?.input !== undefined || first?.on === undefined ? new Interface(first?.input, first?.output) : new Interface(first, output)),
  clearLine: () => true,
  clearScreenDown: () => true,
  cursorTo: () => true,
  moveCursor: () => true,
  emitKeypressEvents() {},
  get promises() {
    return require('readline/promises');
  },
};
