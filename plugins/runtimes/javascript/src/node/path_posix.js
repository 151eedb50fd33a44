// All paths are POSIX paths.

module.exports = require('path');
