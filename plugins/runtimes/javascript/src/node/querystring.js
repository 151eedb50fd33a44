// The legacy query string API.

const escape = (text) => encodeURIComponent(text);

function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function stringify(object, separator = '&', equals = '=') {
  const show = (value) => (['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? escape(`${value}`) : '');
  return Object.entries(object ?? {})
    .flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((item) => `${escape(key)}${equals}${show(item)}`))
    .join(separator);
}

function parse(text, separator = '&', equals = '=') {
  const result = Object.create(null);
  for (const part of `${text}`.split(separator).filter(Boolean)) {
    const at = part.indexOf(equals);
    const [key, value] = (at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at + equals.length)])
      .map((piece) => unescape(piece.replaceAll('+', ' ')));
    if (!(key in result)) result[key] = value;
    else if (Array.isArray(result[key])) result[key].push(value);
    else result[key] = [result[key], value];
  }
  return result;
}

module.exports = { escape, unescape, stringify, parse, encode: stringify, decode: parse };
