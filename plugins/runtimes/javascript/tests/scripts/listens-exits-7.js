const heard = [];
process.on('uncaughtException', (error) => heard.push(error.message));
process.on('unhandledRejection', (reason) => heard.push(reason));
process.on('exit', () => {
  process.exitCode = heard.join() === 'rejected,thrown' ? 7 : 1;
});
setTimeout(() => {
  throw new Error('thrown');
}, 1);
Promise.reject('rejected');
