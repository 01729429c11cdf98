/** Returns a request as the bytes that go on the wire. */
export function requestBytes(request: {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
  readonly accept?: string;
}): string {
  const { method, path, token, body, accept } = request;
  const accepted = accept === undefined ? '' : `Accept: ${accept}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n${accepted}`;
  if (body === undefined) return `${head}\r\n`;
  // Bodies of benches are ASCII, so characters are bytes.
  const text = JSON.stringify(body);
  return `${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}
