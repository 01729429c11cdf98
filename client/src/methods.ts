import type { Operations } from './operations.ts';

/** The operations of the API, by the `operationId` of its document. */
export type OperationName = keyof Operations;

/** The parameters of an operation: path, query and body in one object. */
export type Params<Name extends OperationName> = Operations[Name]['params'];

/** The result of a successful call. */
export interface Answer<Name extends OperationName> {
  /** HTTP status. For a send, 202: this call was accepted; 200: the idempotency key was already known. */
  readonly status: Operations[Name]['status'];
  readonly data: Operations[Name]['data'];
  /** `X-Request-Id` of the call. */
  readonly requestId: string;
  readonly headers: Headers;
}

/** Options of one call besides its parameters. */
export interface CallOptions {
  /** Ends the call, which rejects with the signal's reason. The service may still have carried it out. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's own setting, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Overrides the client's own setting, in milliseconds. */
  readonly longestRetryAfterMs?: number | undefined;
  /**
   * True if repeating this call does no harm. It is then repeated even if it may have been carried out. By default true
   * for GET, PATCH and DELETE, and for calls with an idempotency key. Also for `cancelMessage`, `markInboundRead` and
   * the calls that pause, resume or cancel a batch.
   */
  readonly isRepeatable?: boolean | undefined;
  /**
   * `X-Request-Id`: 1 to 256 characters of visible ASCII, with blanks only between them. By default the client makes
   * one.
   */
  readonly requestId?: string | undefined;
}

/** One method for each operation. */
export type Methods = {
  readonly [Name in OperationName]: Record<never, never> extends Params<Name>
    ? (params?: Params<Name>, options?: CallOptions) => Promise<Answer<Name>>
    : (params: Params<Name>, options?: CallOptions) => Promise<Answer<Name>>;
};

/** Calls an operation by its name. Rejects with an `ApiError`, or with the reason of a signal that was aborted. */
export type Call = <Name extends OperationName>(
  name: Name,
  params: Params<Name>,
  options?: CallOptions,
) => Promise<Answer<Name>>;
