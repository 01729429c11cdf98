/** An entry of a history, in the order in which callers, endpoints and phones noticed them. */
export type Entry = { readonly atMs: number } & Fact;

/** The kinds of facts, and the fields of each. `shop` is its id. `text` names a message: no two have the same. */
interface Facts {
  accepted: {
    readonly shop: string;
    readonly text: string;
    readonly key: string;
    readonly id: string;
    readonly to: string;
  };
  refused: { readonly shop: string; readonly text: string; readonly to: string; readonly code: string };
  /** A call with the key of an accepted message was refused. */
  repeat_refused: { readonly shop: string; readonly id: string; readonly code: string };
  /** A call was asked after somebody's STOP had been acknowledged. */
  answered_after_stop: { readonly shop: string; readonly to: string; readonly code: string };
  /** The service accepted a message to a number at this moment, and it was not cancelled. */
  made: { readonly shop: string; readonly id: string; readonly to: string };
  ended: { readonly shop: string; readonly id: string; readonly status: string; readonly reason: string };
  /** A scheduled send was cancelled, and must not be sent. */
  cancelled: { readonly shop: string; readonly text: string };
  /**
   * The customer's phone has the receipt of a STOP. `held`: the text of a message to them that could not leave before.
   */
  stopped: { readonly shop: string; readonly by: string; readonly held?: string };
  /** A customer wrote this to the shop, and their phone had the receipt by then. */
  wrote: {
    readonly shop: string;
    readonly text: string;
    readonly by: string;
    readonly receiptedMs: number;
  };
  /** A handset has a message. `group`: the group's id, or null in a chat between two. */
  delivered: {
    readonly from: string;
    readonly text: string;
    readonly to: string;
    readonly group: string | null;
  };
  connected: { readonly tenant: string; readonly shop: string; readonly phone: string };
  /**
   * An operator suspended the tenant and got the answer, or is about to resume it. `held`: the text of a message that
   * could not leave before.
   */
  suspended: { readonly tenant: string; readonly on: boolean; readonly held?: string };
  revoked: { readonly key: string };
  answered_after_revocation: { readonly key: string; readonly status: number; readonly code: string };
  erased: { readonly shop: string };
  erased_tenant: { readonly tenant: string };
  /** Somebody who had written `text` to the shop, and nothing else, was erased. `person` is their id in the API. */
  erased_person: {
    readonly tenant: string;
    readonly person: string;
    readonly by: string;
    readonly text: string;
  };
  left_after_erasure: {
    readonly of: 'shop' | 'tenant' | 'person';
    readonly name: string;
    readonly what: string;
  };
  /** An awaited event did not come in time, or an answer was wrong. */
  gave_up: { readonly shop: string; readonly what: string };
  fed: EventFact;
  called: EventFact;
  fault: { readonly name: string; readonly on: boolean };
}

/** An event as a reader or an endpoint had it. `about` is the id of its subject, `shop` the shop's. */
interface EventFact {
  readonly tenant: string;
  readonly eventId: string;
  readonly type: string;
  readonly shop: string;
  readonly about: string;
  /** The text of an inbound message, else null. */
  readonly text: string | null;
}

/** An observation from outside the service. */
export type Fact = { [Kind in keyof Facts]: { readonly kind: Kind } & Facts[Kind] }[keyof Facts];

/** A record of what was noticed. */
export class History {
  readonly #nowMs: () => number;
  /**
   * How long a frame may reach its handset after a STOP or a suspension that came after its commit. The time for which
   * a node is frozen is added. It is long, because a busy machine delivers frames late.
   */
  readonly onTheWayMs: number;
  readonly entries: Entry[] = [];

  constructor(
    nowMs: () => number,
    { onTheWayMs = 5_000 }: { readonly onTheWayMs?: number | undefined } = {},
  ) {
    this.#nowMs = nowMs;
    this.onTheWayMs = onTheWayMs;
  }

  /** Adds what was noticed now, or at `atMs`. */
  add(fact: Fact, atMs = this.#nowMs()): void {
    this.entries.push({ atMs, ...fact });
  }

  /** Entries of one kind. */
  of<Kind extends Fact['kind']>(kind: Kind): Extract<Entry, { kind: Kind }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind);
  }

  /** The history up to and with its entry of that place, in the order of time. */
  upTo(place: number): History {
    const cut = new History(this.#nowMs, this);
    cut.entries.push(...this.inOrder().slice(0, place + 1));
    return cut;
  }

  /** All entries in the order of time. */
  inOrder(): Entry[] {
    return this.entries.toSorted((left, right) => left.atMs - right.atMs);
  }
}

/** The content of an event, as readers and endpoints get it. */
export interface ToldEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The fact that somebody had an event. */
export function eventFact(kind: 'fed' | 'called', tenant: string, { id, type, data }: ToldEvent): Fact {
  const shop = String(data.shopId);
  const text = type === 'message.received' ? String(data.text) : null;
  return { kind, tenant, eventId: id, type, shop, about: String(data.id ?? shop), text };
}
