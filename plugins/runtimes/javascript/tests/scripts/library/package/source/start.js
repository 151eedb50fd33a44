module.exports = 'the main file';
