import { EventEmitter, once } from 'node:events';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { Directory, lidOf, numberOf } from './directory.ts';
import type { Answer, FakeServer, Library, PairingKeys, Peer, Pipeline, Stanza } from './library.ts';
import { OfflineQueue } from './offline-queue.ts';
import { childOf, childrenOf, refusal, SERVER } from './stanzas.ts';

/** How long anything may take on a slow machine. */
const EVENT_MS = MINUTE_MS;

/**
 * The other project's server with one number that a shop links. It is corrected from outside to behave like a real
 * server. `success` comes only at logins and names the LID. A paired client is asked to come again (515). An
 * acknowledgement names the class of its stanza. Each question is answered, usync with LIDs. Stanzas that arrive while
 * the client is away wait.
 */
export class OtherNetwork {
  readonly directory = new Directory();
  /** The stanzas that wait for the client; undefined while it is there. */
  offline: OfflineQueue | undefined = new OfflineQueue();
  /** Everything that the client sent. */
  readonly heard: Stanza[] = [];
  /** A login is answered with this instead of `success`. */
  failure: Stanza | undefined;
  readonly #server: FakeServer;
  readonly #phone: string;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #line: Pipeline | undefined;

  private constructor(server: FakeServer, phone: string) {
    this.#server = server;
    this.#phone = phone;
    this.directory.add(phone, [0, 1]);
  }

  /** Starts the server. `phone`: the number that a shop will link. */
  static async start({ FakeWaServer }: Library, phone: string): Promise<OtherNetwork> {
    const server = await FakeWaServer.start();
    const network = new OtherNetwork(server, phone);
    server.onPipeline((pipeline) => network.#mend(pipeline));
    server.onCapturedStanza((stanza) => network.#hear(stanza));
    server.onAuthenticatedPipeline((pipeline) => {
      if (pipeline.clientPayload?.kind === 'registration') void network.#pair(pipeline);
    });
    network.answer('usync', (iq) => network.directory.answer(iq));
    // It has no answer to these, and a client waits for one.
    network.answer('w:mex', (iq) => refusal(iq, 501));
    return network;
  }

  /** The service's settings for this network. */
  get settings(): Readonly<Record<'MSGAPP_SOCKET_URL' | 'MSGAPP_NOISE_ROOT_KEY', string>> {
    const { url, noiseRootCa } = this.#server;
    const rootKey = Buffer.from(noiseRootCa.publicKey).toString('base64');
    return { MSGAPP_SOCKET_URL: url, MSGAPP_NOISE_ROOT_KEY: rootKey };
  }

  /** A phone scans the code. */
  scan(qr: string): void {
    const [identity = '', secret = ''] = qr.split(',').slice(-3);
    const keys: PairingKeys = {
      identityPublicKey: Buffer.from(identity, 'base64'),
      advSecretKey: Buffer.from(secret, 'base64'),
    };
    this.#events.emit('scanned', keys);
  }

  /** A person's phone under its LID. */
  person(phone: string): Promise<Peer> {
    if (phone !== this.#phone) this.directory.add(phone);
    const sendStanza = (stanza: Stanza) => this.push(fromPhone(stanza, phone));
    return this.#server.createFakePeer({ jid: lidOf(phone) }, { clientPayload: null, sendStanza });
  }

  /** Sends a stanza to the client, or keeps it while the client is away. */
  async push(stanza: Stanza): Promise<void> {
    if (this.offline === undefined) await this.#line?.sendStanza(stanza);
    else this.offline.add(stanza);
  }

  /** Makes all stanzas wait for the next login from now on. */
  leave(): OfflineQueue {
    this.offline = new OfflineQueue();
    return this.offline;
  }

  /** Answers the questions of a name space in front of the server's own answers. */
  answer(xmlns: string, answer: Answer): void {
    this.#server.registerIqHandler({ xmlns }, answer);
  }

  /** Resolves with the first stanza that the client sent or sends, and that is so. */
  async hears(title: string, isWanted: (stanza: Stanza) => boolean): Promise<Stanza> {
    const signal = AbortSignal.timeout(EVENT_MS);
    for (let seen = 0; ; ) {
      const foundStanza = this.heard.slice(seen).find(isWanted);
      if (foundStanza !== undefined) return foundStanza;
      seen = this.heard.length;
      await once(this.#events, 'stanza', { signal }).catch(() => {
        throw new Error(`${title} was not heard`);
      });
    }
  }

  /** Resolves with the text that a person reads next, of the shop or of a chat, and with its stanza. */
  async reads(peer: Peer, chat?: string): Promise<{ readonly text: string; readonly stanza: Stanza }> {
    const options = { timeoutMs: EVENT_MS, senderJid: lidOf(this.#phone) };
    const read = await (chat === undefined
      ? peer.expectMessage(options)
      : peer.expectGroupMessage(chat, options));
    const message = read.message.deviceSentMessage?.message ?? read.message;
    return { text: message.conversation || message.extendedTextMessage?.text || '', stanza: read.stanza };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #mend(pipeline: Pipeline): void {
    const send = pipeline.sendStanza.bind(pipeline);
    pipeline.sendStanza = async (stanza) => {
      for (const each of this.#mended(pipeline, stanza)) await send(each);
    };
  }

  #mended(pipeline: Pipeline, stanza: Stanza): readonly Stanza[] {
    const { tag, attrs } = stanza;
    if (tag === 'success') {
      if (pipeline.clientPayload?.kind !== 'login') return [];
      if (this.failure !== undefined) return [this.failure];
      this.#line = pipeline;
      return [{ ...stanza, attrs: { ...attrs, lid: lidOf(this.#phone) } }];
    }
    if (tag === 'ib' && childOf(stanza, 'offline')?.attrs.count === '0')
      return this.failure === undefined ? this.#opening(stanza) : [];
    return tag === 'ack' ? [{ tag, attrs: { ...attrs, class: 'message' } }] : [stanza];
  }

  /** Returns the waiting stanzas for a login. The server itself reports that there are none. */
  #opening(emptyStanza: Stanza): readonly Stanza[] {
    const { offline } = this;
    if (offline?.isEmpty !== false) this.offline = undefined;
    return this.offline?.opening() ?? [emptyStanza];
  }

  async #pair(pipeline: Pipeline): Promise<void> {
    const user = this.#phone.slice(1);
    const device = {
      deviceJid: `${user}:1@${SERVER}`,
      deviceLid: lidOf(this.#phone).replace('@', ':1@'),
    };
    const scanned = once(this.#events, 'scanned') as Promise<[PairingKeys]>;
    await this.#server.runPairing(pipeline, device, async () => (await scanned)[0]);
    await this.hears('the signed identity', (stanza) => childOf(stanza, 'pair-device-sign') !== undefined);
    await pipeline.sendStanza({ tag: 'stream:error', attrs: { code: '515' } });
  }

  #hear(stanza: Stanza): void {
    this.heard.push(stanza);
    const batch = stanza.tag === 'ib' ? childOf(stanza, 'offline_batch') : undefined;
    if (batch !== undefined) void this.#sendBatch(Number(batch.attrs.count));
    this.#events.emit('stanza');
  }

  async #sendBatch(count: number): Promise<void> {
    const stanzas = this.offline?.batch(count) ?? [];
    if (this.offline?.isEmpty === true) this.offline = undefined;
    for (const stanza of stanzas) await this.#line?.sendStanza(stanza);
  }
}

/**
 * Changes a stanza of the other project's phones to the form of real ones. A message names its writer by both
 * addresses. The keys of a retry receipt have their type (whatsmeow receipt.go; the client accepts none without it).
 */
function fromPhone(stanza: Stanza, phone: string): Stanza {
  const { tag, attrs } = stanza;
  if (tag === 'message')
    return { ...stanza, attrs: { ...attrs, sender_pn: numberOf(phone), addressing_mode: 'lid' } };
  const type = { tag: 'type', attrs: {}, content: Uint8Array.of(5) };
  const parts = childrenOf(stanza).map((part) =>
    part.tag === 'keys' ? { ...part, content: [type, ...childrenOf(part)] } : part,
  );
  return { tag, attrs, content: parts };
}
