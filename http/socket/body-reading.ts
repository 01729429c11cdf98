import type { Entered } from '../pipeline/edge.ts';
import type { BodyBudget } from './body-budget.ts';
import { KeptBody, type ReadBody, wholeBody } from './kept-body.ts';
import type { SocketCall } from './socket-call.ts';

/** The memory for bodies, and the listener's next step for a whole or an abandoned request. */
export interface BodyReader {
  readonly bodies: BodyBudget;
  respond(call: SocketCall, entered: Entered): void;
  abandoned(): void;
}

/**
 * Reads a body. The request is answered once the body is complete or refused. An incomplete request is never handled.
 */
export class BodyReading {
  readonly #call: SocketCall;
  readonly #entered: Entered;
  readonly #reader: BodyReader;
  /** The body so far; undefined before its first piece. */
  #kept: KeptBody | undefined;
  #isAsked = false;
  #isOver = false;

  constructor(call: SocketCall, entered: Entered, reader: BodyReader) {
    this.#call = call;
    this.#entered = entered;
    this.#reader = reader;
  }

  begin(): void {
    this.#call.watch(() => this.#cutOff());
    this.#call.response.onData((piece, isLast) => this.#take(piece, isLast));
  }

  #cutOff(): void {
    this.#call.leave();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#kept?.release();
    this.#reader.abandoned();
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return;
    const read = this.#read(piece, isLast);
    if (read !== undefined) {
      this.#end(read);
    } else if (!this.#isAsked) {
      this.#isAsked = true;
      void this.#askForAccount();
    }
  }

  #read(piece: ArrayBuffer, isLast: boolean): ReadBody | undefined {
    if (isLast && this.#kept === undefined) return wholeBody(piece);
    this.#kept ??= new KeptBody(this.#reader.bodies);
    return this.#kept.add(piece, isLast);
  }

  #end({ body, fault }: ReadBody): void {
    this.#isOver = true;
    const { request } = this.#entered;
    request.body = body;
    request.bodyFault = fault;
    this.#reader.respond(this.#call, this.#entered);
  }

  /**
   * Looks up the account of a slow body. If its key is invalid, the request is answered before the body is complete.
   */
  async #askForAccount(): Promise<void> {
    try {
      const account = await this.#entered.account();
      if (this.#isOver) return;
      if (account !== undefined && this.#kept?.belongsTo(account)) return;
      this.#kept?.release();
      const fault = account === undefined ? undefined : 'crowded';
      this.#call.response.cork(() => this.#end({ body: '', fault }));
    } catch {
      // The key is looked up again once the body is complete. The caller gets the error then.
    }
  }
}
