// There is never a terminal.

exports.isatty = () => false;
