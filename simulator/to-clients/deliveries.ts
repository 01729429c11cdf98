import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Envelope } from '../handsets/handset.ts';
import type { Collection, Journal } from '../journal.ts';
import type { ContactToken } from '../limits/number-limits.ts';
import type { Companion } from '../linking/companions.ts';
import { Backlog, type FindStanza } from '../socket/backlog.ts';
import type { Connection } from '../socket/connection.ts';
import type { Connections } from '../socket/connections.ts';
import { node } from '../socket/stanzas.ts';
import { KeptReceipts } from './kept-receipts.ts';
import type { Notices } from './notices.ts';

/** A stanza for a companion that has not sent its receipt yet. */
export interface Delivery {
  /** Ascending, in the order of delivery. */
  readonly sequence: number;
  readonly companionId: string;
  /** The stanza's tag. By default `message`. */
  readonly tag?: string;
  /** The stanza's id, the same each time it is delivered. */
  readonly messageId: string;
  readonly attrs: Readonly<Record<string, string>>;
  readonly envelopes: readonly Envelope[];
  /** Attributes of each ciphertext that describe the message in the clear. */
  readonly sealedAttrs?: Readonly<Record<string, string>>;
  /** The sender's token, if the stanza carries it. */
  readonly token?: ContactToken;
  /** Children in addition to the envelopes, or instead of them. */
  readonly children?: readonly BinaryNode[];
  /**
   * The source that can encrypt the message again: a handset's number and the plaintext, or the companion that sent it.
   * `nobody`: there is no source.
   */
  readonly source:
    | { readonly kind: 'handset'; readonly phone: string; readonly plaintext: Uint8Array }
    | { readonly kind: 'companion'; readonly id: string }
    | { readonly kind: 'nobody' };
  /** How often the client asked for another encryption. */
  readonly retries: number;
  /** A status that its client answered with an error. It comes first at each login and withholds all others. */
  readonly blocking?: true;
}

/**
 * How a delivery ended. `receipted`: the client received it. `refused`: the client refused it, was unlinked, or too
 * many stanzas waited for it.
 */
export type DeliveryEnd = 'receipted' | 'refused';

/** The most stanzas that are kept for a companion. A new one removes the oldest. */
const LONGEST_QUEUE = 5_000;

/**
 * Keeps stanzas for companions. A stanza is sent when its companion is online. It is sent again at each
 * login until the client sent a receipt for its id, as the real network does.
 */
export class Deliveries {
  readonly #deliveries: Collection<Delivery>;
  readonly #connections: Connections;
  readonly #notices: Notices;
  readonly #queues = new Map<string, Map<string, Delivery>>();
  /** Takes the end of a delivery, by the id of its stanza. */
  readonly #waiting = new Map<string, (end: DeliveryEnd) => void>();
  /** The receipts of handsets that wait for companions. */
  readonly receipts: KeptReceipts;
  /** The ids of deliveries that withhold all others, by companion. */
  readonly #blocking = new Map<string, Set<string>>();
  #lastSequence = 0;

  constructor(journal: Journal, connections: Connections, notices: Notices) {
    this.#deliveries = journal.collection<Delivery>('deliveries');
    this.#connections = connections;
    this.#notices = notices;
    this.receipts = new KeptReceipts(connections);
    const keptDeliveries = [...this.#deliveries.entries()].map(([, delivery]) => delivery);
    for (const delivery of keptDeliveries.sort((left, right) => left.sequence - right.sequence)) {
      this.#queueOf(delivery.companionId).set(delivery.messageId, delivery);
      if (delivery.blocking) this.#blockingOf(delivery.companionId).add(delivery.messageId);
      this.#lastSequence = delivery.sequence;
    }
  }

  /**
   * Keeps a stanza for a companion and sends it when the companion is online. If the companion asked for another
   * encryption of it, its retries stay counted.
   */
  add(delivery: Omit<Delivery, 'sequence' | 'retries'>): void {
    this.#lastSequence += 1;
    const { retries = 0 } = this.get(delivery.companionId, delivery.messageId) ?? {};
    const keptDelivery = { ...delivery, sequence: this.#lastSequence, retries };
    const queue = this.#queueOf(delivery.companionId);
    for (const oldestDelivery of queue.values()) {
      if (queue.size < LONGEST_QUEUE) break;
      this.#end(oldestDelivery, 'refused');
    }
    this.#keep(keptDelivery);
    this.#connections.offer(keptDelivery.companionId, this.#finder(keptDelivery));
  }

  /** Returns a function that finds the delivery when it is next. */
  #finder({ companionId, messageId }: Delivery): FindStanza {
    return () => {
      const delivery = this.get(companionId, messageId);
      return delivery && stanzaOf(delivery);
    };
  }

  /** Marks a status that the client answered with an error. */
  block(delivery: Delivery): void {
    this.#keep({ ...delivery, blocking: true });
    this.#blockingOf(delivery.companionId).add(delivery.messageId);
  }

  /** Returns the stanzas that wait for a companion, in the order of delivery. */
  waitingFor(companionId: string): Delivery[] {
    const waitingDeliveries = [...this.#queueOf(companionId).values()];
    return [
      ...waitingDeliveries.filter(({ blocking }) => blocking),
      ...waitingDeliveries.filter(({ blocking }) => !blocking),
    ];
  }

  get(companionId: string, messageId: string): Delivery | undefined {
    return this.#queues.get(companionId)?.get(messageId);
  }

  /**
   * Starts to send to the connection: first the waiting stanzas, oldest first, then receipts, then notifications, then
   * new stanzas.
   */
  flush(connection: Connection, companion: Companion): void {
    const { id } = companion;
    const waitingFinders = this.waitingFor(id).map((delivery) => this.#finder(delivery));
    connection.backlog = new Backlog({
      send: (stanza) => connection.send(stanza),
      isBlocked: () => this.#blockingOf(id).size > 0,
      waiting: [...waitingFinders, ...this.receipts.waitingFor(id), ...this.#notices.waitingFor(id)],
    });
    connection.backlog.start();
  }

  /** Counts that the client asked for another encryption. */
  countRetry(delivery: Delivery): Delivery {
    const countedDelivery = { ...delivery, retries: delivery.retries + 1 };
    this.#keep(countedDelivery);
    return countedDelivery;
  }

  /** Sends a delivery again with new envelopes, under the same id, after the stanzas that wait. */
  retry(delivery: Delivery, envelopes: readonly Envelope[]): void {
    const retriedDelivery = this.countRetry({ ...delivery, envelopes });
    this.#connections.offer(delivery.companionId, this.#finder(retriedDelivery));
  }

  /** Ends a delivery, because the client received the stanza or refused it. */
  end(companionId: string, messageId: string, end: DeliveryEnd): void {
    const delivery = this.get(companionId, messageId);
    if (delivery) this.#end(delivery, end);
  }

  /** Resolves when the delivery of that id ends, at the first companion where it does. Call `stop` in any case. */
  waitFor(messageId: string): [ended: Promise<DeliveryEnd>, stop: () => void] {
    const end = new Promise<DeliveryEnd>((resolve) => void this.#waiting.set(messageId, resolve));
    return [end, () => void this.#waiting.delete(messageId)];
  }

  /** Removes all that waits for a companion that was unlinked. */
  forget(companionId: string): void {
    for (const delivery of this.#queueOf(companionId).values()) this.#end(delivery, 'refused');
    this.#queues.delete(companionId);
    this.receipts.forget(companionId);
  }

  #end(delivery: Delivery, end: DeliveryEnd): void {
    this.#queueOf(delivery.companionId).delete(delivery.messageId);
    this.#deliveries.delete(`${delivery.companionId} ${delivery.messageId}`);
    this.#waiting.get(delivery.messageId)?.(end);
    const wasBlocking = this.#blockingOf(delivery.companionId).delete(delivery.messageId);
    if (wasBlocking) this.#connections.of(delivery.companionId)?.backlog?.goOn();
  }

  #keep(delivery: Delivery): void {
    this.#queueOf(delivery.companionId).set(delivery.messageId, delivery);
    this.#deliveries.set(`${delivery.companionId} ${delivery.messageId}`, delivery);
  }

  #blockingOf(companionId: string): Set<string> {
    const blocking = this.#blocking.get(companionId) ?? new Set();
    this.#blocking.set(companionId, blocking);
    return blocking;
  }

  #queueOf(companionId: string): Map<string, Delivery> {
    const queue = this.#queues.get(companionId) ?? new Map<string, Delivery>();
    this.#queues.set(companionId, queue);
    return queue;
  }
}

function stanzaOf(delivery: Delivery): BinaryNode {
  const count = delivery.retries === 0 ? undefined : String(delivery.retries);
  return node(delivery.tag ?? 'message', { ...delivery.attrs, id: delivery.messageId }, [
    ...delivery.envelopes.map(({ type, ciphertext }) =>
      node('enc', { v: '2', type, count, ...delivery.sealedAttrs }, ciphertext),
    ),
    ...(delivery.token === undefined
      ? []
      : [node('tctoken', { t: String(delivery.token.at) }, delivery.token.bytes)]),
    ...(delivery.children ?? []),
  ]);
}
