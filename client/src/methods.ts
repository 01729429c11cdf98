import type { Operations } from './operations.ts';

/** The operations of the API, by the `operationId` of its document. */
export type OperationName = keyof Operations;

/** What an operation takes: path, query and body in one object. */
export type Params<Name extends OperationName> = Operations[Name]['params'];

/** What a successful call answered. */
export interface Answer<Name extends OperationName> {
  /** HTTP status; of a send 202 says that it was accepted by this call, 200 that the same idempotency key was known already. */
  readonly status: Operations[Name]['status'];
  readonly data: Operations[Name]['data'];
  /** `X-Request-Id` of the call. */
  readonly requestId: string;
  readonly headers: Headers;
}

/** What one call may be given besides its parameters. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. What was asked may have been done all the same. */
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's own, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** In place of the client's own, in milliseconds. */
  readonly longestRetryAfterMs?: number | undefined;
  /**
   * Says that doing this call twice does no harm, so that it is repeated also where nobody knows whether it was done. The
   * client does so by itself for GET, PATCH, DELETE, `cancelMessage`, `markInboundRead`, the three that
   * steer a batch, and what has an idempotency key.
   */
  readonly isRepeatable?: boolean | undefined;
  /** `X-Request-Id`, up to 256 visible characters of ASCII, blanks within them; the client makes one for each call. */
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
