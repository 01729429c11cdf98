import type { MaybePromise } from '../runtime/maybe-promise.ts';
import type { RequestValue } from './contract/exchange.ts';
import type { Exchange } from './exchange.ts';
import type { BodyBudget } from './pipeline/body-budget.ts';
import { KeptBody, type ReadBody, wholeBody } from './pipeline/kept-body.ts';
import type { OpenRequest } from './request-head.ts';

/** Rules for the bodies that a listener reads. */
export interface BodyReader {
  readonly bodies: BodyBudget;
  /** Same as `BodyPolicy.accountOf`. */
  accountOf(head: RequestValue): MaybePromise<string | undefined>;
  respond(exchange: Exchange, whole: RequestValue): void;
  abandoned(): void;
}

/** A body on its way in. Whole or refused, its request is answered; cut off, half a request never reaches anybody. */
export class BodyReading {
  readonly #exchange: Exchange;
  readonly #request: OpenRequest;
  readonly #reader: BodyReader;
  /** The body so far; undefined before its first piece. */
  #kept: KeptBody | undefined;
  #isAsked = false;
  #isOver = false;

  constructor(exchange: Exchange, request: OpenRequest, reader: BodyReader) {
    this.#exchange = exchange;
    this.#request = request;
    this.#reader = reader;
  }

  begin(): void {
    this.#exchange.watch(() => this.#cutOff());
    this.#exchange.response.onData((piece, isLast) => this.#take(piece, isLast));
  }

  #cutOff(): void {
    this.#exchange.leave();
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
    this.#request.body = body;
    this.#request.bodyFault = fault;
    this.#reader.respond(this.#exchange, this.#request);
  }

  /**
   * Looks up the account of a slow body. If its key is invalid, the request is answered before the body is complete.
   */
  async #askForAccount(): Promise<void> {
    try {
      const account = await this.#reader.accountOf(this.#request);
      if (this.#isOver) return;
      if (account !== undefined && this.#kept?.belongsTo(account)) return;
      this.#kept?.release();
      const fault = account === undefined ? undefined : 'crowded';
      this.#exchange.response.cork(() => this.#end({ body: '', fault }));
    } catch {
      // The key is looked up again once the body is complete. The caller gets the error then.
    }
  }
}
