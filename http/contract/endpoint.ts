import type * as v from 'valibot';
import type { Failed, FailureCode, Outcome } from '../../actors/failure.ts';
import type { InboundDownload } from '../../actors/inbound-content.ts';
import type { Permission } from '../../actors/permission.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { CallerConnection } from './caller-connection.ts';
import { closedObject } from './closed-object.ts';
import type { CommonError, CommonOperatorError, ErrorCode } from './errors.ts';
import type { HeaderLines } from './exchange.ts';
import type { Operator, OperatorRole } from './operator-role.ts';
import type { CallWait, FollowDeclaration, WaitDeclaration } from './waiting.ts';

/** Methods the service uses. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The subjects of endpoints, by which the documentation groups them. */
export type Tag =
  | 'Identity'
  | 'Shops'
  | 'Channel'
  | 'Messages'
  | 'Batches'
  | 'Inbound'
  | 'Events'
  | 'Statuses'
  | 'Groups'
  | 'Contacts'
  | 'Documentation'
  | 'Tenants'
  | 'Keys'
  | 'Webhooks'
  | 'Requests'
  | 'Fleet'
  | 'Actors'
  | 'Dead letters'
  | 'Operators';

/** One success an endpoint may answer with. */
export interface ReplyDeclaration {
  readonly description: string;
  /** The schema of the envelope's `data`. Documentation and tests check it, the hot path does not. */
  readonly data: v.GenericSchema;
  readonly example: unknown;
  /** Optional fast serializer of body and envelope for hot endpoints. Tests compare it with the schema. */
  readonly write?: (data: never) => string;
  /** True: the body is a file, which the handler names as `file`, and no JSON. */
  readonly isFile?: boolean;
  /** Headers of this reply alone: name to description. */
  readonly headers?: { readonly [name: string]: string };
}

type Replies = { readonly [Status in 200 | 201 | 202]?: ReplyDeclaration };
type QueryEntries = { readonly [name: string]: v.GenericSchema<string | undefined, unknown> };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

type DataOf<Reply> = Reply extends ReplyDeclaration ? Frozen<v.InferInput<Reply['data']>> : never;

/** The data of the only declared reply; never if there are several. */
type OnlyData<R extends Replies, Status = keyof R & number, Each = Status> = Each extends keyof R
  ? [Status] extends [Each]
    ? DataOf<R[Each]>
    : never
  : never;

type DeclaredReply<R extends Replies, Wait> = {
  [Status in keyof R & number]: {
    readonly status: Status;
    readonly data: DataOf<R[Status]>;
    readonly headers?: HeaderLines;
    /** A file that the node that took the call sends instead of `data`. */
    readonly file?: InboundDownload;
    /** Set if the call should wait for a better reply. It is then handled again with this wait. */
    readonly wait?: Wait | undefined;
  };
}[keyof R & number];

/** The `forwardTimeoutMs` of calls that ask other shops or nodes, erase, or look up many recipients, in milliseconds. */
export const LONG_FORWARD_TIMEOUT_MS = 10_000;

/**
 * The answer of a handler: one of the declared replies, or a failure with one of the codes. If one reply is declared, an
 * outcome with its data is that reply.
 */
export type HandlerAnswer<R extends Replies, Code extends FailureCode, Wait = never> =
  | DeclaredReply<R, Wait>
  | { readonly ok: true; readonly value: OnlyData<R> }
  | Failed<Code>;

/** A request whose every part was checked. */
export interface CheckedRequest<Path extends string, Query, Body, Services, Wait = never> {
  readonly params: { readonly [Name in ParamName<Path>]: string };
  readonly query: Query;
  readonly body: Body;
  readonly services: Services;
  /** The header `Idempotency-Key`, if the endpoint takes it and the call has it. */
  readonly idempotencyKey: string | undefined;
  readonly call: CallContext<Wait>;
}

/** The surroundings of a call, as they came from the edge. */
interface CallContext<Wait> {
  readonly requestId: string;
  /** The caller's trace context; undefined without one. */
  readonly traceparent: string | undefined;
  /** Set only for a call that came in at this node. */
  readonly connection?: CallerConnection | undefined;
  /** The wait that has ended, if the call waited. */
  readonly wait?: Wait | undefined;
}

interface Declaration<
  Path extends string,
  R extends Replies,
  Query extends QueryEntries,
  Body extends v.GenericSchema,
  Code extends FailureCode,
> {
  /** Its `operationId`, a promise to generated clients like the path: unlike any other of the same document. */
  readonly name: string;
  readonly method: Method;
  /** Relative to the base address, parameters in braces. */
  readonly path: Path;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyExample?: v.InferInput<Body>;
  readonly replies: R;
  /** True if the header `Idempotency-Key` is read. By default false. */
  readonly takesIdempotencyKey?: boolean;
  /** The failures of this endpoint in addition to those of every endpoint. By default none. */
  readonly errors?: readonly Code[];
  /**
   * Time limit of a forwarded request, in milliseconds, for handlers that take long. If it is set, the owner is
   * notified when the caller disconnects.
   */
  readonly forwardTimeoutMs?: number;
  /** If absent, its pages are returned one at a time. */
  readonly followed?: FollowDeclaration;
  /** If true, the call counts against the month's quota, and is answered even if that is used up. By default false. */
  readonly mayExceedQuota?: boolean;
}

/** An endpoint as router, pipeline and documentation see it: the declaration with its types erased. */
export interface Endpoint<Services> {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string | undefined;
  /** `none`: any valid key. `operator`: an operator's token instead of a key. */
  readonly permission: Permission | 'none' | 'operator';
  /** The least role of an operator; undefined where tenants call. */
  readonly role: OperatorRole | undefined;
  readonly params: readonly string[];
  readonly query: v.StrictObjectSchema<v.ObjectEntries, undefined>;
  readonly body: v.GenericSchema | undefined;
  readonly bodyExample: unknown;
  readonly replies: Replies;
  /** The status of a success for which the handler names none. */
  readonly status: number;
  readonly errors: readonly ErrorCode[];
  readonly takesIdempotencyKey: boolean;
  readonly forwardTimeoutMs: number | undefined;
  readonly waits: WaitDeclaration | undefined;
  readonly followed: FollowDeclaration | undefined;
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
  }): MaybePromise<
    | {
        readonly status: number;
        readonly data: unknown;
        readonly headers?: HeaderLines;
        readonly file?: InboundDownload;
        readonly wait?: CallWait | undefined;
      }
    | Outcome<unknown>
  >;
}

/** `{idOrName}` and its like, in order. */
function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

function erase<Services>(
  declaration: Declaration<string, Replies, QueryEntries, v.GenericSchema, FailureCode>,
  more: Pick<Endpoint<Services>, 'permission' | 'role' | 'tenant' | 'waits'> & { readonly handle: unknown },
): Endpoint<Services> {
  return {
    name: declaration.name,
    method: declaration.method,
    path: declaration.path,
    tag: declaration.tag,
    summary: declaration.summary,
    description: declaration.description,
    permission: more.permission,
    role: more.role,
    params: paramNames(declaration.path),
    query: closedObject((declaration.query ?? {}) as v.ObjectEntries),
    body: declaration.body,
    bodyExample: declaration.bodyExample,
    replies: declaration.replies,
    status: Number(Object.keys(declaration.replies)[0]),
    errors: declaration.errors ?? [],
    takesIdempotencyKey: declaration.takesIdempotencyKey ?? false,
    forwardTimeoutMs: declaration.forwardTimeoutMs,
    waits: more.waits,
    followed: declaration.followed,
    mayExceedQuota: declaration.mayExceedQuota ?? false,
    givesFile: Object.values(declaration.replies).some(({ isFile }) => isFile === true),
    tenant: more.tenant,
    handle: more.handle as Endpoint<Services>['handle'],
  };
}

type QueryOutput<Query extends QueryEntries> = { readonly [Name in keyof Query]: v.InferOutput<Query[Name]> };

/** Makes the declaring function of the tenants' API for one set of services. */
export function apiEndpoints<Services>() {
  return function apiEndpoint<
    const Path extends string,
    const R extends Replies,
    Query extends QueryEntries = Record<never, never>,
    Body extends v.GenericSchema = v.UndefinedSchema<undefined>,
    Code extends FailureCode = never,
    Wait extends CallWait = never,
  >(
    declaration: Declaration<Path, R, Query, Body, Code> & {
      readonly permission: Permission | 'none';
      /** If absent, its calls never wait. */
      readonly waits?: WaitDeclaration<Wait>;
      handle(
        request: CheckedRequest<Path, QueryOutput<Query>, v.InferOutput<Body>, Services, NoInfer<Wait>> & {
          readonly caller: Caller;
        },
      ): MaybePromise<HandlerAnswer<R, NoInfer<Code> | CommonError, NoInfer<Wait>>>;
    },
  ): Endpoint<Services> {
    return erase(declaration as never, {
      permission: declaration.permission,
      role: undefined,
      waits: declaration.waits,
      tenant: 'caller',
      handle: declaration.handle,
    });
  };
}

/** Makes the declaring function of the operators' API for one set of services. */
export function operatorEndpoints<Services>() {
  return function operatorEndpoint<
    const Path extends string,
    const R extends Replies,
    Query extends QueryEntries = Record<never, never>,
    Body extends v.GenericSchema = v.UndefinedSchema<undefined>,
    Code extends FailureCode = never,
  >(
    declaration: Declaration<Path, R, Query, Body, Code> & {
      /** The least role of an operator. */
      readonly role: OperatorRole;
      /** `created`: the handler gets the new tenant's id as `params.tenantId`. */
      readonly tenant?: 'created';
      handle(
        request: CheckedRequest<Path, QueryOutput<Query>, v.InferOutput<Body>, Services> & {
          readonly params: { readonly tenantId: string };
          readonly operator: Operator;
        },
      ): MaybePromise<HandlerAnswer<R, NoInfer<Code> | CommonOperatorError>>;
    },
  ): Endpoint<Services> {
    const named = paramNames(declaration.path).includes('tenantId') ? 'param' : 'none';
    return erase(declaration as never, {
      permission: 'operator',
      role: declaration.role,
      waits: undefined,
      tenant: declaration.tenant ?? named,
      handle: declaration.handle,
    });
  };
}

/** A declared reply. */
export function reply<const Status extends 200 | 201 | 202, Data>(
  status: Status,
  data: Data,
  headers: HeaderLines = '',
): { readonly status: Status; readonly data: Data; readonly headers: HeaderLines } {
  return { status, data, headers };
}
