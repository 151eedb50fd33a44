// `createRequire` and the list of modules.

const { require: requireFrom, names } = native('modules');

function createRequire(from) {
  const path = from instanceof URL || `${from}`.startsWith('file:') ? require('url').fileURLToPath(from) : `${from}`;
  return requireFrom(path);
}

class Module {}

Object.assign(Module, {
  Module,
  createRequire,
  builtinModules: names(),
  isBuiltin: (name) => names().includes(`${name}`.replace(/^node:/, '')),
  register() {},
});
module.exports = Module;
