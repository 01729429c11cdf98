import type { HeaderLines, ReplyValue } from '../contract/exchange.ts';
import { statusLine } from '../contract/status-line.ts';
import { OpenReply } from './open-reply.ts';
import type { SocketCall } from './socket-call.ts';
import { ENDS_HEADS } from './uwebsockets.ts';

/**
 * Idle time of a connection, so that clients close it first and send no request into a closing one. uWebSockets closes
 * an idle connection after 10 s, on a clock that ticks each 4 s: after 8 s at the earliest.
 */
const KEEP_ALIVE = '\r\nKeep-Alive: timeout=8';

/**
 * Writes a reply to its connection. Call it within the request's own callback or a cork, so that writes are gathered.
 */
export function sendReply(call: SocketCall, reply: ReplyValue): void {
  const { response, method } = call;
  const { status, contentType, headers, body, stream, closesConnection } = reply;
  // uWebSockets writes the status 200 itself.
  if (status !== 200) response.writeStatus(statusLine(status));
  const isHead = method === 'HEAD';
  const headerLines = isHead ? headHeaders(reply) : closesConnection === true ? '' : KEEP_ALIVE;
  response.writeHeader('Content-Type', contentType + headers + headerLines);
  if (isHead && closesConnection === true) {
    closeAfterHead(call, reply);
  } else if (isHead) {
    // Given a length, uWebSockets waits for a body that never comes and ends the connection with the next request.
    response.endWithoutBody();
  } else if (stream !== undefined) {
    stream(new OpenReply(call));
  } else {
    response.end(body, closesConnection === true);
  }
}

/** Returns the further headers of a reply to HEAD. uWebSockets adds a length or `close` only to a reply with a body. */
function headHeaders({ body, stream, closesConnection }: ReplyValue): HeaderLines {
  if (closesConnection === true) return ENDS_HEADS ? '' : '\r\nConnection: close';
  return (stream === undefined ? `\r\nContent-Length: ${Buffer.byteLength(body)}` : '') + KEEP_ALIVE;
}

/**
 * Closes the connection after the head of a reply. An older uWebSockets would close it after the body, which never
 * comes. Until it is closed here, further bytes of the caller are not read as a request.
 */
function closeAfterHead(call: SocketCall, { body, stream }: ReplyValue): void {
  const { response } = call;
  const length = stream === undefined ? Buffer.byteLength(body) : 0;
  if (ENDS_HEADS) {
    response.endWithoutBody(length, true);
    return;
  }
  call.watch();
  response.tryEnd('', length);
  // Writes of this turn are gathered until its end.
  setImmediate(() => {
    if (!call.isGone) response.close();
  });
}
