import type { Server } from 'node:http';
import { type BinaryNode, getAllBinaryNodeChildren, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { WebSocketServer } from 'ws';
import { stanzaTime } from '../clock.ts';
import { takeMessage } from '../from-clients/messages.ts';
import { takeAck, takeReceipt } from '../from-clients/receipts.ts';
import { CodePairing } from '../linking/code-pairing.ts';
import { PairingService } from '../linking/pairing.ts';
import type { Network } from '../network.ts';
import { answerQuery, deliverFromNowOn } from '../queries/queries.ts';
import { isGroupAddress, lidAddress } from './addresses.ts';
import { Connection } from './connection.ts';
import type { ClientFinish } from './noise-responder.ts';
import type { ServerIdentity } from './server-identity.ts';
import { attribute, node, streamError } from './stanzas.ts';

/** The path of the chat socket. */
export const CHAT_PATH = '/ws/chat';

/** The largest WebSocket message taken from a client. */
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Accepts the upgrades of `server` to the chat and runs their connections. */
export class ChatServer {
  readonly pairing: PairingService;
  readonly codePairing: CodePairing;
  readonly #network: Network;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MOST_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  constructor(options: { network: Network; identity: ServerIdentity; server: Server }) {
    this.#network = options.network;
    this.pairing = new PairingService(options.network);
    this.codePairing = new CodePairing(options.network, this.pairing);
    options.server.on('upgrade', (request, socket, head) => {
      const path = (request.url ?? '').split('?', 1)[0];
      const isUnavailable = path === CHAT_PATH && this.#network.faults.take('upgrade', '');
      const refusal = path !== CHAT_PATH ? '404 Not Found' : isUnavailable && '503 Service Unavailable';
      if (refusal) {
        socket.on('error', () => socket.destroy());
        socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        new Connection({
          socket: webSocket,
          journal: this.#network.journal,
          clock: this.#network.clock,
          identity: options.identity,
          handlers: this.#handlers,
        });
      });
    });
  }

  readonly #handlers = {
    onClient: async (connection: Connection, finish: ClientFinish): Promise<void> => {
      if (this.#network.versions.refuses(finish.payload)) refuse(connection, 405);
      else if (finish.payload.devicePairingData) this.pairing.register(connection, finish);
      else await login(this.#network, connection, finish);
    },
    onStanza: async (connection: Connection, stanza: BinaryNode): Promise<void> => {
      if (connection.companion === undefined && stanza.tag === 'iq')
        this.codePairing.answer(connection, stanza);
      else await takeStanza(this.#network, connection, stanza);
    },
    onClosed: (connection: Connection): void => {
      this.codePairing.leave(connection);
      this.pairing.leave(connection);
      this.#network.connections.remove(connection);
    },
    onFailure: (connection: Connection, error: unknown): void => {
      const reason = error instanceof Error ? error.message : String(error);
      this.#network.log({ event: 'connection failed', companion: connection.companion?.id, reason });
    },
  };
}

async function takeStanza(network: Network, connection: Connection, stanza: BinaryNode): Promise<void> {
  if (connection.hearing === 'deaf') {
    if (attribute(stanza, 'xmlns') === 'w:p') await answerQuery(network, connection, stanza);
    return;
  }
  switch (stanza.tag) {
    case 'iq':
      await answerQuery(network, connection, stanza);
      break;
    case 'message':
      await takeMessage(network, connection, stanza);
      break;
    case 'receipt':
      await takeReceipt(network, connection, stanza);
      break;
    case 'ack':
      takeAck(network, connection, stanza);
      break;
    case 'chatstate':
      noteComposing(network, connection, stanza);
      break;
    case 'ib':
      takeBatchRequest(connection, stanza);
      break;
    case 'presence':
      // The network does not answer it.
      connection.shownName = stanza.attrs.name ?? connection.shownName;
      break;
    default:
      break;
  }
}

/** Sends as many waiting stanzas as the client asks for. */
function takeBatchRequest(connection: Connection, ib: BinaryNode): void {
  const count = Number(getBinaryNodeChild(ib, 'offline_batch')?.attrs.count);
  if (count > 0) connection.backlog?.onAsked(count);
}

function noteComposing(network: Network, connection: Connection, chatstate: BinaryNode): void {
  const recipient = attribute(chatstate, 'to');
  const chat = isGroupAddress(recipient) ? recipient : network.numbers.resolve(recipient)?.number.phone;
  const composing = getAllBinaryNodeChildren(chatstate).some(({ tag }) => tag === 'composing');
  if (connection.companion && chat && composing)
    network.composing.add(`${connection.companion.phone} ${chat}`);
}

/** Logs a companion in if it proves the Noise key of its pairing. Any other gets 401. */
async function login(network: Network, connection: Connection, finish: ClientFinish): Promise<void> {
  const phone = String(finish.payload.username ?? '');
  const companion = network.companions.get(phone, finish.payload.device ?? 0);
  if (!companion || companion.noiseKey !== finish.staticKey.toString('base64')) {
    refuse(connection, 401);
    return;
  }
  const fault = network.faults.take('login', phone);
  if (fault !== undefined) {
    refuse(connection, fault.code, fault.attributes);
    return;
  }
  // Two sockets on one identity: the newer one stays.
  network.connections
    .login(connection, companion)
    ?.endWith(streamError(undefined, node('conflict', { type: 'replaced' })));
  const isBare = network.faults.take('bare_lid', companion.phone);
  connection.send(
    node('success', {
      t: stanzaTime(network.clock),
      ...(network.faults.take('no_lid', companion.phone)
        ? {}
        : { lid: lidAddress(companion.lid, isBare ? undefined : companion.device) }),
    }),
  );
  network.log({ event: 'companion logged in', companion: companion.id });
  // A client that does not call itself passive is ready at once.
  if (finish.payload.passive !== true) await deliverFromNowOn(network, connection, companion);
}

function refuse(
  connection: Connection,
  reason: number,
  attributes: Readonly<Record<string, string>> = {},
): void {
  connection.endWith(node('failure', { reason: String(reason), location: 'sim', ...attributes }));
}
