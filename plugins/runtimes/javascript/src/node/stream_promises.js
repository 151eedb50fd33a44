// Streams with promises.

const stream = require('stream');

const settle = (begin) => new Promise((resolve, reject) => begin((error) => (error ? reject(error) : resolve())));

exports.finished = (one) => settle((done) => stream.finished(one, done));
exports.pipeline = (...parts) => settle((done) => stream.pipeline(...parts, done));
