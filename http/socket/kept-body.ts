import { isUtf8 } from 'node:buffer';
import type { BodyFault } from '../contract/exchange.ts';
import type { BodyBudget, BodySlot } from './body-budget.ts';

/** Larger bodies are refused with 413. */
export const MOST_BODY_BYTES = 64 * 1024;

/** The first size of the buffer for a body that comes in pieces. It doubles as the body grows. */
const LEAST_BYTES = 1024;

/** The buffer before the first piece. */
const NOTHING = Buffer.alloc(0);

/** Reads a body that arrives in one piece, as most do. It needs no copy and no slot of the budget. */
export function wholeBody(piece: ArrayBuffer): ReadBody {
  return piece.byteLength > MOST_BODY_BYTES ? { body: '', fault: 'too_large' } : textOf(Buffer.from(piece));
}

/** A body as text, or the problem with it. */
export interface ReadBody {
  readonly body: string;
  readonly fault: BodyFault | undefined;
}

/**
 * A body that is still arriving. Its pieces are copied into one buffer that doubles, so a small piece takes no memory
 * of its own. All of the buffer is taken from the budget.
 */
export class KeptBody {
  readonly #budget: BodyBudget;
  #slot: BodySlot | undefined;
  #buffer = NOTHING;
  #length = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Copies a piece. Returns the body once it is complete or refused, otherwise undefined. */
  add(piece: ArrayBuffer, isLast: boolean): ReadBody | undefined {
    const length = this.#length + piece.byteLength;
    if (length > MOST_BODY_BYTES) return this.#refuse('too_large');
    if (!this.#makeRoom(length)) return this.#refuse('crowded');
    this.#buffer.set(new Uint8Array(piece), this.#length);
    this.#length = length;
    if (!isLast) return undefined;
    const text = textOf(this.#buffer.subarray(0, length));
    this.release();
    return text;
  }

  /** Counts the body on this tenant; returns false and drops the body if the tenant's share is used up. */
  belongsTo(tenant: string): boolean {
    if (this.#slot === undefined || this.#slot.move(tenant)) return true;
    this.release();
    return false;
  }

  /** Drops the stored bytes. */
  release(): void {
    this.#slot?.release();
    this.#buffer = NOTHING;
  }

  #refuse(fault: BodyFault): ReadBody {
    this.release();
    return { body: '', fault };
  }

  #makeRoom(length: number): boolean {
    if (this.#slot === undefined) {
      this.#slot = this.#budget.open();
      if (this.#slot === undefined) return false;
    }
    const size = this.#buffer.length;
    if (length <= size) return true;
    const wantedBytes = Math.min(MOST_BODY_BYTES, Math.max(LEAST_BYTES, 2 * size, length));
    if (!this.#slot.grow(wantedBytes - size)) return false;
    // Allocate separate memory: a slice of Node's shared pool would keep the whole pool.
    const largerBuffer = Buffer.allocUnsafeSlow(wantedBytes);
    this.#buffer.copy(largerBuffer, 0, 0, this.#length);
    this.#buffer = largerBuffer;
    return true;
  }
}

function textOf(bytes: Buffer): ReadBody {
  return isUtf8(bytes) ? { body: bytes.toString('utf8'), fault: undefined } : { body: '', fault: 'not_utf8' };
}
