import type { Server } from 'node:http';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { getAllBinaryNodeChildren } from '@whiskeysockets/baileys';
import { WebSocketServer } from 'ws';
import { isGroupAddress } from './addresses.ts';
import { Connection } from './connection.ts';
import { login } from './login.ts';
import { takeMessage } from './messages.ts';
import type { Network } from './network.ts';
import { PairingService } from './pairing.ts';
import { answerQuery } from './queries.ts';
import { takeAck, takeReceipt } from './receipts.ts';
import type { ServerIdentity } from './server-identity.ts';
import { attribute } from './stanzas.ts';

/** Where clients connect. */
export const CHAT_PATH = '/ws/chat';

/** The largest WebSocket message taken from a client. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Takes the upgrades of `server` that ask for the chat and runs their connections. */
export class ChatServer {
  readonly desk: PairingService;
  readonly #network: Network;
  readonly #identity: ServerIdentity;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  constructor(options: { network: Network; identity: ServerIdentity; server: Server }) {
    this.#network = options.network;
    this.#identity = options.identity;
    this.desk = new PairingService(options.network);
    options.server.on('upgrade', (request, socket, head) => {
      const path = (request.url ?? '').split('?', 1)[0];
      const refusal = path !== CHAT_PATH ? '404 Not Found' : this.#upgradeRefusal();
      if (refusal) {
        socket.on('error', () => socket.destroy());
        socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => {
        new Connection({
          socket: opened,
          journal: this.#network.journal,
          clock: this.#network.clock,
          identity: this.#identity,
          handlers: this.#handlers,
        });
      });
    });
  }

  #upgradeRefusal(): string | undefined {
    return this.#network.faults.takeUpgradeRefusal() ? '503 Service Unavailable' : undefined;
  }

  readonly #handlers = {
    onClient: async (connection: Connection, finish: Parameters<typeof login>[2]): Promise<void> => {
      if (finish.payload.devicePairingData) this.desk.register(connection, finish);
      else login(this.#network, connection, finish);
    },
    onStanza: (connection: Connection, stanza: BinaryNode): Promise<void> =>
      takeStanza(this.#network, connection, stanza),
    onClosed: (connection: Connection): void => {
      this.desk.leave(connection);
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
      noteTyping(network, connection, stanza);
      break;
    default:
      // The network answers neither presence nor ib.
      break;
  }
}

function noteTyping(network: Network, connection: Connection, chatstate: BinaryNode): void {
  const to = attribute(chatstate, 'to');
  const chat = isGroupAddress(to) ? to : network.numbers.resolve(to)?.number.phone;
  const composing = getAllBinaryNodeChildren(chatstate).some(({ tag }) => tag === 'composing');
  if (connection.companion && chat && composing) network.typing.seen(connection.companion.phone, chat);
}
