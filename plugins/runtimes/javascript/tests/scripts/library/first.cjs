exports.early = 1;
exports.late = require('./second.cjs').seen + 1;
exports.folder = __dirname;
