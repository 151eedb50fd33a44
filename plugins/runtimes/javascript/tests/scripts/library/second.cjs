exports.seen = require('./first.cjs').early;
