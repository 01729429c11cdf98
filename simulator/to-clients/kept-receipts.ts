import type { BinaryNode } from '@whiskeysockets/baileys';
import type { FindStanza } from '../socket/backlog.ts';
import type { Connections } from '../socket/connections.ts';

/** The most receipts that are kept for a companion. A new one removes the oldest. */
const MOST_RECEIPTS = 5_000;

/** Keeps the receipts of handsets until the companion's client acknowledges them. They are sent at each login. */
export class KeptReceipts {
  readonly #connections: Connections;
  /** By companion and then by `receiptName`. */
  readonly #receipts = new Map<string, Map<string, BinaryNode>>();
  /** The receipts that were sent to a client. Only these can be acknowledged. */
  readonly #sent = new WeakSet<BinaryNode>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Keeps a receipt for the companion's next login. */
  keep(companionId: string, receipt: BinaryNode): void {
    const keptReceipts = this.#receipts.get(companionId) ?? new Map<string, BinaryNode>();
    this.#receipts.set(companionId, keptReceipts);
    for (const oldestName of keptReceipts.keys()) {
      if (keptReceipts.size < MOST_RECEIPTS) break;
      keptReceipts.delete(oldestName);
    }
    keptReceipts.set(receiptName(receipt.attrs, receipt.attrs.from), receipt);
  }

  /** Keeps a receipt, and sends it now to a companion that is online. */
  add(companionId: string, receipt: BinaryNode): void {
    this.keep(companionId, receipt);
    this.#connections.offer(companionId, this.#finder(companionId, receipt));
  }

  /** Removes a receipt that the client acknowledged. A newer receipt of the same name that was not sent yet stays. */
  acknowledged(companionId: string, { attrs }: BinaryNode): void {
    const keptReceipts = this.#receipts.get(companionId);
    const name = receiptName(attrs, attrs.to);
    const receipt = keptReceipts?.get(name);
    if (receipt !== undefined && this.#sent.has(receipt)) keptReceipts?.delete(name);
  }

  /** Returns the receipts that wait for a companion, oldest first. */
  waitingFor(companionId: string): FindStanza[] {
    const keptReceipts = [...(this.#receipts.get(companionId)?.values() ?? [])];
    return keptReceipts.map((receipt) => this.#finder(companionId, receipt));
  }

  /** Removes all receipts for a companion that was unlinked. */
  forget(companionId: string): void {
    this.#receipts.delete(companionId);
  }

  /** Returns a function that finds the receipt when it is next, unless it was acknowledged meanwhile. */
  #finder(companionId: string, receipt: BinaryNode): FindStanza {
    return () => {
      const name = receiptName(receipt.attrs, receipt.attrs.from);
      const keptReceipt = this.#receipts.get(companionId)?.get(name);
      if (keptReceipt !== undefined) this.#sent.add(keptReceipt);
      return keptReceipt;
    };
  }
}

/** Returns the attributes that a receipt and its acknowledgement have in common. */
function receiptName({ id, type, participant }: BinaryNode['attrs'], chat: string | undefined): string {
  return [id, chat, participant, type].join(' ');
}
