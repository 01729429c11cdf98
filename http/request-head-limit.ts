/**
 * Bytes of a request's head, its line and all header fields together; a longer one is answered 431 by the parser.
 * A request line alone should be taken up to 8,000 octets (RFC 9112, 3).
 */
const MAX_HEAD_BYTES = 8_192;

// uWebSockets.js reads its limit once from the environment, while its binary is loaded. The default is 4,096.
// biome-ignore lint/style/noProcessEnv: the library has no other place for it, and nothing of ours reads it.
process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(MAX_HEAD_BYTES);
