import type * as v from 'valibot';
import type { Outcome } from '../../actors/failure.ts';
import type { InboundDownload } from '../../actors/inbound-content.ts';
import type { Permission } from '../../actors/permission.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { CallerConnection } from './caller-connection.ts';
import type { ErrorCode } from './errors.ts';
import type { CallIds, HeaderLines } from './exchange.ts';
import type { Operator, OperatorRole } from './operator-role.ts';
import type { Tag } from './tags.ts';
import type { CallWait, StreamDeclaration, WaitDeclaration } from './waiting.ts';

/** Methods the service uses. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One of the successful replies of an endpoint. */
export interface ReplyDeclaration {
  readonly description: string;
  /**
   * The schema of the envelope's `data`. Tests check replies against it; the service does not, because that costs time.
   */
  readonly data: v.GenericSchema;
  readonly example: unknown;
  /**
   * Writes the whole body faster than `JSON.stringify`, for endpoints that are called often. Tests compare it with the
   * schema.
   */
  readonly write?: (data: never) => string;
  /** The possible types of a body that is a file and not JSON. The handler returns the file as `file`. */
  readonly fileTypes?: readonly string[];
  /** The headers of this reply, with their descriptions. Headers of all replies are not listed. */
  readonly headers?: { readonly [name: string]: string };
}

/** The successful replies of an endpoint, by status. */
export type Replies = { readonly [Status in 200 | 201 | 202]?: ReplyDeclaration };

/** Schemas that a document names once and refers to instead of repeating them. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;

/**
 * The `forwardTimeoutMs` of calls that ask other shops or nodes, erase, or look up many recipients, in milliseconds.
 */
export const LONG_FORWARD_TIMEOUT_MS = 10_000;

/** The ids, the connection and the wait of a call, as the edge passes them on. */
export interface CallContext<Wait> extends CallIds {
  /**
   * The caller's connection. For a forwarded call that may take long, it stands for the one at the other node, which
   * reports when the caller leaves. Absent for other forwarded calls.
   */
  readonly connection?: CallerConnection | undefined;
  /** The wait that has ended, if the call waited. */
  readonly wait?: Wait | undefined;
}

/** An endpoint as router, pipeline and documentation use it: its declaration without the types of its parts. */
export interface Endpoint<Services> {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string | undefined;
  /** `none`: any valid key. `operator`: an operator's token instead of a key. */
  readonly permission: Permission | 'none' | 'operator';
  /** The least role of an operator. Undefined in the tenants' API. */
  readonly role: OperatorRole | undefined;
  readonly params: readonly string[];
  readonly query: v.StrictObjectSchema<v.ObjectEntries, undefined>;
  readonly body: v.GenericSchema | undefined;
  readonly bodyExample: unknown;
  readonly replies: Replies;
  /** The status of a result without one. */
  readonly status: number;
  readonly errors: readonly ErrorCode[];
  readonly takesIdempotencyKey: boolean;
  readonly forwardTimeoutMs: number | undefined;
  readonly waits: WaitDeclaration | undefined;
  readonly streamed: StreamDeclaration | undefined;
  readonly mayExceedQuota: boolean;
  /** True if a success is a file, which the node that took the call fetches. */
  readonly givesFile: boolean;
  /** `created` makes the tenant's id at the edge, so that the request can be routed to its shard. */
  readonly tenant: 'caller' | 'param' | 'created' | 'none';
  handle(request: {
    readonly caller?: Caller;
    readonly operator?: Operator;
    readonly params: Readonly<Record<string, string>>;
    readonly query: unknown;
    readonly body: unknown;
    readonly services: Services;
    readonly idempotencyKey: string | undefined;
    readonly call: CallContext<CallWait>;
  }): MaybePromise<HandlerResult>;
}

/** The result of a handler, with its types erased. */
export type HandlerResult =
  | {
      readonly status: number;
      readonly data: unknown;
      readonly headers?: HeaderLines;
      readonly file?: InboundDownload;
      readonly wait?: CallWait | undefined;
    }
  | Outcome<unknown>;

/** Returns a declared reply. */
export function reply<const Status extends 200 | 201 | 202, Data>(
  status: Status,
  data: Data,
  headers: HeaderLines = '',
): { readonly status: Status; readonly data: Data; readonly headers: HeaderLines } {
  return { status, data, headers };
}
