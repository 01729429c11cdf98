/** An entry of a history, in the order in which callers, endpoints and phones noticed them. */
export type Entry = { readonly atMs: number } & Fact;

/** What somebody outside the service noticed. `shop` is its id, `text` names a message: no two have the same. */
export type Fact =
  | {
      readonly kind: 'accepted';
      readonly shop: string;
      readonly text: string;
      readonly key: string;
      readonly id: string;
      readonly to: string;
    }
  | {
      readonly kind: 'refused';
      readonly shop: string;
      readonly text: string;
      readonly to: string;
      readonly code: string;
    }
  /** A call with the key of an accepted message was refused. */
  | { readonly kind: 'repeat_refused'; readonly shop: string; readonly id: string; readonly code: string }
  /** A call was asked after somebody's STOP had been acknowledged. */
  | {
      readonly kind: 'answered_after_stop';
      readonly shop: string;
      readonly to: string;
      readonly code: string;
    }
  | {
      readonly kind: 'ended';
      readonly shop: string;
      readonly id: string;
      readonly status: string;
      readonly reason: string;
    }
  /** The customer's phone has the receipt of a STOP. */
  | { readonly kind: 'stopped'; readonly shop: string; readonly by: string }
  /** A handset has a message. */
  | { readonly kind: 'delivered'; readonly from: string; readonly text: string; readonly to: string }
  | { readonly kind: 'connected'; readonly shop: string; readonly phone: string }
  | { readonly kind: 'revoked'; readonly key: string }
  | {
      readonly kind: 'answered_after_revocation';
      readonly key: string;
      readonly status: number;
      readonly code: string;
    }
  | { readonly kind: 'erased'; readonly shop: string }
  | { readonly kind: 'left_after_erasure'; readonly shop: string; readonly what: string }
  | {
      readonly kind: 'fed';
      readonly tenant: string;
      readonly eventId: string;
      readonly type: string;
      readonly about: string;
    }
  | {
      readonly kind: 'called';
      readonly tenant: string;
      readonly eventId: string;
      readonly type: string;
      readonly about: string;
    }
  | { readonly kind: 'fault'; readonly name: string; readonly on: boolean };

/** A record of what was noticed. */
export class History {
  readonly #nowMs: () => number;
  readonly entries: Entry[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Adds what was noticed now, or at `atMs`. */
  add(fact: Fact, atMs = this.#nowMs()): void {
    this.entries.push({ atMs, ...fact });
  }

  /** Entries of one kind. */
  of<Kind extends Fact['kind']>(kind: Kind): Extract<Entry, { kind: Kind }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind);
  }
}
