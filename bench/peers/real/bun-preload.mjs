// Loaded by Bun before the peer's own program, in the peer's folder: points its unmodified client at the simulator,
// answers the look-up of the newest client version at once, and keeps its server on loopback.
const { BENCH_CHAT_URL, BENCH_ROOT_KEY } = Bun.env;
const baileys = await import(Bun.resolveSync('@whiskeysockets/baileys', process.cwd()));
baileys.DEFAULT_CONNECTION_CONFIG.waWebSocketUrl = BENCH_CHAT_URL;
baileys.WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(BENCH_ROOT_KEY, 'base64');

const fetchReal = globalThis.fetch;
globalThis.fetch = (url, init) =>
  String(url) === 'https://web.whatsapp.com/sw.js'
    ? Promise.resolve(new Response('"client_revision":1035194821'))
    : fetchReal(url, init);

const serve = Bun.serve;
Bun.serve = (options) => serve({ ...options, hostname: '127.0.0.1' });
