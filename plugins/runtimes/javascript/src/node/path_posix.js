// Here every path is a POSIX path.

module.exports = require('path');
