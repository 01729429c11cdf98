import type { EdgeCall } from '../pipeline/edge.ts';
import type { BodyBudget } from './body-budget.ts';
import { KeptBody, type ReadBody, wholeBody } from './kept-body.ts';
import type { SocketCall } from './socket-call.ts';

/** The memory for bodies, and what the listener does with a request whose body has come or was abandoned. */
export interface BodyReader {
  readonly bodies: BodyBudget;
  respond(call: SocketCall, edgeCall: EdgeCall): void;
  abandoned(): void;
}

/**
 * Reads a body. The request is answered once the body is complete or refused. An incomplete request is never handled.
 */
export class BodyReading {
  readonly #call: SocketCall;
  readonly #edgeCall: EdgeCall;
  readonly #reader: BodyReader;
  /** The body so far; undefined before its first piece. */
  #kept: KeptBody | undefined;
  #isAsked = false;
  #isOver = false;

  constructor(call: SocketCall, edgeCall: EdgeCall, reader: BodyReader) {
    this.#call = call;
    this.#edgeCall = edgeCall;
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
    const reading = this.#read(piece, isLast);
    if (reading !== undefined) {
      this.#end(reading);
    } else if (!this.#isAsked) {
      this.#isAsked = true;
      void this.#askForTenant();
    }
  }

  #read(piece: ArrayBuffer, isLast: boolean): ReadBody | undefined {
    if (isLast && this.#kept === undefined) return wholeBody(piece);
    this.#kept ??= new KeptBody(this.#reader.bodies);
    return this.#kept.add(piece, isLast);
  }

  #end({ body, fault }: ReadBody): void {
    this.#isOver = true;
    const { request } = this.#edgeCall;
    request.body = body;
    request.bodyFault = fault;
    this.#reader.respond(this.#call, this.#edgeCall);
  }

  /** Looks up the tenant of a slow body. If its key is invalid, the request is answered before the body is complete. */
  async #askForTenant(): Promise<void> {
    try {
      const tenant = await this.#edgeCall.tenant();
      if (this.#isOver) return;
      if (tenant !== undefined && this.#kept?.belongsTo(tenant)) return;
      this.#kept?.release();
      const fault = tenant === undefined ? undefined : 'crowded';
      this.#call.response.cork(() => this.#end({ body: '', fault }));
    } catch {
      // The key is looked up again once the body is complete. The caller gets the error then.
    }
  }
}
