import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import type { Companion } from './companions.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Envelope } from './handset.ts';
import type { Collection, Journal } from './journal.ts';
import type { ContactToken } from './number-limits.ts';
import { node } from './stanzas.ts';

/** A stanza for a companion that its client has not receipted yet. */
export interface Delivery {
  /** Ascending; the order of delivery. */
  readonly sequence: number;
  readonly companionId: string;
  /** The stanza's id, the same each time it is delivered. */
  readonly messageId: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly envelopes: readonly Envelope[];
  /** The sender's token, where the stanza carries it. */
  readonly token?: ContactToken;
  /** Who can encrypt it again: a handset's number and the plaintext, or the companion that sent the stanza. */
  readonly source:
    | { readonly phone: string; readonly plaintext: Uint8Array }
    | { readonly companion: string };
  /** How often the client asked for it to be encrypted again. */
  readonly retries: number;
}

/** How a delivery ended: the client has it, or it refused it. */
export type DeliveryEnd = 'receipted' | 'refused';

/** Stanzas kept for a companion that is offline, and receipts; the oldest make room. */
const LONGEST_QUEUE = 5_000;

/**
 * What waits for the receipts of companions. A stanza is sent when its companion is online and again at each login
 * until the client sent a receipt for its id, as the real network does.
 */
export class Deliveries {
  readonly #deliveries: Collection<Delivery>;
  readonly #connections: Connections;
  readonly #queues = new Map<string, Map<string, Delivery>>();
  readonly #waiting = new Map<string, Set<(end: DeliveryEnd) => void>>();
  /** What handsets said that the client has not acknowledged, by companion and by what an acknowledgement names. */
  readonly #receipts = new Map<string, Map<string, BinaryNode>>();
  /** Those of them that a client was sent, and so may acknowledge. */
  readonly #sentReceipts = new WeakSet<BinaryNode>();
  #lastSequence = 0;

  constructor(journal: Journal, connections: Connections) {
    this.#deliveries = journal.collection<Delivery>('deliveries');
    this.#connections = connections;
    const kept = [...this.#deliveries.entries()].map(([, delivery]) => delivery);
    for (const delivery of kept.sort((left, right) => left.sequence - right.sequence)) {
      this.#queueOf(delivery.companionId).set(delivery.messageId, delivery);
      this.#lastSequence = delivery.sequence;
    }
  }

  /** Keeps a stanza for a companion and sends it when the companion is online. */
  add(delivery: Omit<Delivery, 'sequence' | 'retries'>): void {
    this.#lastSequence += 1;
    const kept = { ...delivery, sequence: this.#lastSequence, retries: 0 };
    const queue = this.#queueOf(delivery.companionId);
    for (const oldest of queue.values()) {
      if (queue.size < LONGEST_QUEUE) break;
      this.#end(oldest, 'refused');
    }
    this.#keep(kept);
    const connection = this.#connections.of(delivery.companionId);
    if (connection?.active && connection.hearing === 'full') connection.send(stanzaOf(kept));
  }

  get(companionId: string, messageId: string): Delivery | undefined {
    return this.#queues.get(companionId)?.get(messageId);
  }

  /** Keeps a handset's receipt: it is sent at each login of the companion until its client acknowledged it. */
  keepReceipt(companionId: string, receipt: BinaryNode): void {
    const kept = this.#receipts.get(companionId) ?? new Map<string, BinaryNode>();
    this.#receipts.set(companionId, kept);
    for (const oldest of kept.keys()) {
      if (kept.size < LONGEST_QUEUE) break;
      kept.delete(oldest);
    }
    kept.set(receiptName(receipt.attrs, receipt.attrs.from), receipt);
  }

  /** Keeps a handset's receipt, and sends it now to a companion that is online. */
  addReceipt(companionId: string, receipt: BinaryNode): void {
    this.keepReceipt(companionId, receipt);
    const connection = this.#connections.of(companionId);
    if (connection?.active) this.#sendReceipt(connection, receipt);
  }

  /** The client acknowledged a receipt: the one it was sent, not one of the same name that came meanwhile and waits. */
  receiptAcknowledged(companionId: string, { attrs }: BinaryNode): void {
    const kept = this.#receipts.get(companionId);
    const name = receiptName(attrs, attrs.to);
    const receipt = kept?.get(name);
    if (receipt !== undefined && this.#sentReceipts.has(receipt)) kept?.delete(name);
  }

  /** Sends everything that waited, oldest first, then receipts, and says that this was all. */
  flush(connection: Connection, companion: Companion): void {
    const waiting = [...this.#queueOf(companion.id).values()];
    waiting.forEach((delivery, index) => {
      connection.send(stanzaOf(delivery, { offline: String(index) }));
    });
    for (const receipt of this.#receipts.get(companion.id)?.values() ?? []) {
      this.#sendReceipt(connection, receipt);
    }
    connection.send(node('ib', {}, [node('offline', { count: String(waiting.length) })]));
  }

  #sendReceipt(connection: Connection, receipt: BinaryNode): void {
    this.#sentReceipts.add(receipt);
    connection.send(receipt);
  }

  /** Sends a delivery anew with fresh envelopes, under the same id. */
  retry(delivery: Delivery, envelopes: readonly Envelope[]): void {
    const retried = { ...delivery, envelopes, retries: delivery.retries + 1 };
    this.#keep(retried);
    this.#connections.of(delivery.companionId)?.send(stanzaOf(retried));
  }

  /** Ends a delivery: the client received the stanza, or refused it. */
  end(companionId: string, messageId: string, end: DeliveryEnd): void {
    const delivery = this.get(companionId, messageId);
    if (delivery) this.#end(delivery, end);
  }

  /** Resolves when any companion's delivery of that id ends. The second function gives up waiting. */
  waitFor(messageId: string): [ended: Promise<DeliveryEnd>, stop: () => void] {
    let settle: (end: DeliveryEnd) => void = () => undefined;
    const ended = new Promise<DeliveryEnd>((resolve) => {
      settle = resolve;
    });
    const waiting = this.#waiting.get(messageId) ?? new Set();
    waiting.add(settle);
    this.#waiting.set(messageId, waiting);
    return [
      ended,
      () => {
        waiting.delete(settle);
        if (waiting.size === 0) this.#waiting.delete(messageId);
      },
    ];
  }

  /** Forgets what waited for a companion that was unlinked. */
  forget(companionId: string): void {
    for (const delivery of this.#queueOf(companionId).values()) this.#end(delivery, 'refused');
    this.#queues.delete(companionId);
    this.#receipts.delete(companionId);
  }

  #end(delivery: Delivery, end: DeliveryEnd): void {
    this.#queueOf(delivery.companionId).delete(delivery.messageId);
    this.#deliveries.delete(`${delivery.companionId} ${delivery.messageId}`);
    for (const settle of this.#waiting.get(delivery.messageId) ?? []) settle(end);
  }

  #keep(delivery: Delivery): void {
    this.#queueOf(delivery.companionId).set(delivery.messageId, delivery);
    this.#deliveries.set(`${delivery.companionId} ${delivery.messageId}`, delivery);
  }

  #queueOf(companionId: string): Map<string, Delivery> {
    let queue = this.#queues.get(companionId);
    if (!queue) {
      queue = new Map();
      this.#queues.set(companionId, queue);
    }
    return queue;
  }
}

/** What a receipt and its acknowledgement have in common. */
function receiptName({ id, type, participant }: BinaryNode['attrs'], chat: string | undefined): string {
  return [id, chat, participant, type].join(' ');
}

function stanzaOf(delivery: Delivery, more: Record<string, string> = {}): BinaryNode {
  const count = delivery.retries === 0 ? undefined : String(delivery.retries);
  return node('message', { ...delivery.attrs, id: delivery.messageId, ...more }, [
    ...delivery.envelopes.map(({ type, ciphertext }) => node('enc', { v: '2', type, count }, ciphertext)),
    ...(delivery.token === undefined
      ? []
      : [node('tctoken', { t: String(delivery.token.at) }, delivery.token.bytes)]),
  ]);
}

/** The plaintext of a delivery a handset made. */
export const plaintextOf = (source: { plaintext: Uint8Array }): proto.Message =>
  proto.Message.decode(source.plaintext);
