// Assertions that never convert.

module.exports = require('assert').strict;
