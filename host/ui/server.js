// Questions to the server that this page comes from.

/** Why there is no answer, with what to do about it. */
export class NoAnswer extends Error {
  constructor(message, hint = '') {
    super(message);
    this.hint = hint;
  }
}

export async function ask(about, parameters = {}) {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  let answer;
  try {
    answer = await fetch(`api/${about}${query.length ? '?' : ''}${query.join('&')}`);
  } catch {
    throw new NoAnswer('The server does not answer.', 'It has ended, or has another address now. Run `skillcell ui` again.');
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new NoAnswer(told.error ?? `The server answered with ${answer.status}.`, told.hint);
  return told;
}
