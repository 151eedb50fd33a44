// Requests to the server of this page.

export class RequestError extends Error {
  constructor(message, hint = '') {
    super(message);
    this.hint = hint;
  }
}

export async function fetchJson(endpoint, parameters = {}) {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  let response;
  try {
    response = await fetch(`api/${endpoint}${query.length ? '?' : ''}${query.join('&')}`);
  } catch {
    throw new RequestError('The server does not respond.', 'It has stopped, or its address has changed. Run `skillcell ui` again.');
  }
  const data = await response.json().catch(() => ({}));
  if (!response.ok) throw new RequestError(data.error ?? `The server responded with ${response.status}.`, data.hint);
  return data;
}
