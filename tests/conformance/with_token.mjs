// Forwards HTTP to a server that requires a bearer token, for a client that cannot send one.
//
// Usage: TOKEN=… node with_token.mjs URL. Prints the address to use instead of URL, and runs until its input ends.
// Bodies are streamed in both directions. Host and Origin are passed unchanged, so that the server's own checks are tested,
// except that the address of the forwarder is replaced by the server's.

import http from 'node:http';

const server = new URL(process.argv[2]);
const token = process.env.TOKEN;
if (!token) throw new Error('TOKEN is not set');

const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** Returns the headers to forward, as a flat list of names and values. */
function forwardedHeaders(rawHeaders, change = (_name, value) => value) {
  const headers = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at].toLowerCase();
    if (!hopByHop.has(name)) headers.push(rawHeaders[at], change(name, rawHeaders[at + 1]));
  }
  return headers;
}

const forwarder = http.createServer((request, response) => {
  const ownHost = `127.0.0.1:${forwarder.address().port}`;
  const headers = forwardedHeaders(request.rawHeaders, (name, value) => {
    if (name === 'host' && value === ownHost) return server.host;
    if (name === 'origin' && value === `http://${ownHost}`) return server.origin;
    return value;
  });
  headers.push('Authorization', `Bearer ${token}`);
  if (request.headers['transfer-encoding']) headers.push('Transfer-Encoding', 'chunked');

  const { hostname, port } = server;
  const outgoing = http.request({ hostname, port, method: request.method, path: request.url, headers, agent: false });
  outgoing.on('response', answer => {
    response.writeHead(answer.statusCode, forwardedHeaders(answer.rawHeaders));
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', error => {
    if (response.headersSent || response.destroyed) return response.destroy();
    console.error(`with_token: ${request.method} ${request.url}: ${error.message}`);
    response.writeHead(502).end();
  });
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
});

forwarder.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${forwarder.address().port}${server.pathname}`);
});
process.stdin.on('end', () => process.exit()).resume();
