/**
 * The baselines: the cost of the HTTP server itself. `bare` answers everything with a few bytes; `parsed` first takes
 * the body of a POST and parses it.
 */

import { uWebSockets } from '../../http/socket/uwebsockets.ts';

const parsesBodies = process.argv[2] === 'parsed';
const answer = '{"success":true,"data":{"id":"66b1f0a2c3d4e5f607182901","status":"queued"}}';

const app = uWebSockets.App();
app.any('/*', (response) => {
  if (!parsesBodies) {
    response.end(answer);
    return;
  }
  let body = '';
  let isAborted = false;
  response.onAborted(() => {
    isAborted = true;
  });
  response.onData((chunk, isLast) => {
    body += Buffer.from(chunk).toString('utf8');
    if (!isLast || isAborted) return;
    const { to, text } = JSON.parse(body) as { to?: string; text?: string };
    response.cork(() => {
      response.writeStatus(to === undefined || text === undefined ? '422 Unprocessable' : '202 Accepted');
      response.end(answer);
    });
  });
});
app.listen('127.0.0.1', 0, 0, (listener) => {
  if (listener === false) throw new Error('no port could be had');
  const port = uWebSockets.us_socket_local_port(listener);
  process.stdout.write(`${JSON.stringify({ ready: true, api: `http://127.0.0.1:${port}/api/v1` })}\n`);
});
