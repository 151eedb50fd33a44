// POSIX paths.

function check(path, name = 'path') {
  if (typeof path !== 'string') {
    const shown = path === null || path === undefined ? `${path}` : `type ${typeof path}`;
    throw Object.assign(new TypeError(`The "${name}" argument must be of type string. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
  }
}

function walk(path, absolute) {
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop();
    else if (!absolute) parts.push('..');
  }
  return parts.join('/');
}

function normalize(path) {
  check(path);
  if (path === '') return '.';
  const absolute = path[0] === '/';
  let result = walk(path, absolute);
  if (result === '' && !absolute) result = '.';
  if (result !== '' && path.endsWith('/')) result += '/';
  return absolute ? `/${result}` : result;
}

function resolve(...paths) {
  let result = '';
  for (let i = paths.length - 1; i >= 0 && result[0] !== '/'; i--) {
    check(paths[i], `paths[${i}]`);
    if (paths[i] !== '') result = result === '' ? paths[i] : `${paths[i]}/${result}`;
  }
  if (result[0] !== '/') result = `${require('process').cwd()}/${result}`;
  return `/${walk(result, true)}`;
}

function join(...paths) {
  paths.forEach((path) => check(path));
  const joined = paths.filter((path) => path !== '').join('/');
  return joined === '' ? '.' : normalize(joined);
}

function relative(from, to) {
  check(from, 'from');
  check(to, 'to');
  const start = resolve(from).split('/').filter(Boolean);
  const end = resolve(to).split('/').filter(Boolean);
  let same = 0;
  while (same < start.length && same < end.length && start[same] === end[same]) same += 1;
  return [...start.slice(same).map(() => '..'), ...end.slice(same)].join('/');
}

function withoutEnd(path) {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

function dirname(path) {
  check(path);
  if (path === '') return '.';
  const trimmed = withoutEnd(path);
  const slash = trimmed.lastIndexOf('/');
  if (slash === -1) return '.';
  return slash === 0 ? '/' : withoutEnd(trimmed.slice(0, slash));
}

function basename(path, suffix) {
  check(path);
  const trimmed = withoutEnd(path);
  const name = trimmed.slice(trimmed.lastIndexOf('/') + 1);
  return suffix !== undefined && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

function extname(path) {
  const name = basename(path);
  const dot = name.lastIndexOf('.');
  return dot <= 0 || name === '..' ? '' : name.slice(dot);
}

function parse(path) {
  check(path);
  const root = path[0] === '/' ? '/' : '';
  const base = path === '/' ? '' : basename(path);
  const ext = extname(base);
  const slash = withoutEnd(path).lastIndexOf('/');
  const dir = path === '/' ? '/' : slash === -1 ? '' : slash === 0 ? '/' : withoutEnd(path).slice(0, slash);
  return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
}

function format({ root = '', dir, base, name = '', ext = '' }) {
  const file = base ?? `${name}${ext !== '' && ext[0] !== '.' ? '.' : ''}${ext}`;
  const folder = dir ?? root;
  return folder === '' ? file : folder === root ? `${folder}${file}` : `${folder}/${file}`;
}

function matchesGlob(path, pattern) {
  const source = pattern.replace(/[.+^${}()|\\]/g, '\\$&').replace(/\*\*\/?|\*|\?/g, (mark) => (mark === '?' ? '[^/]' : mark === '*' ? '[^/]*' : '.*'));
  return new RegExp(`^${source}$`).test(path);
}

const path = {
  resolve, normalize, isAbsolute: (text) => (check(text), text[0] === '/'), join, relative, toNamespacedPath: (text) => text, dirname,
  basename, extname, format, parse, matchesGlob, sep: '/', delimiter: ':', win32: null, posix: null,
};
path.posix = path;
// Only the separators differ from POSIX here.
path.win32 = { ...path, sep: '\\', delimiter: ';' };
module.exports = path;
