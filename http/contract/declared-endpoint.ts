import type * as v from 'valibot';
import type { Failed, FailureCode } from '../../actors/failure.ts';
import type { InboundDownload } from '../../actors/inbound-content.ts';
import type { Permission } from '../../actors/permission.ts';
import type { DeepReadonly } from '../../actors/reply-schemas/reply-fields.ts';
import type { Caller } from '../../actors/tenants/tenant-operations.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { closedObject } from './closed-object.ts';
import type { CallContext, Endpoint, Method, Replies, ReplyDeclaration } from './endpoint.ts';
import type { CommonError, CommonOperatorError } from './errors.ts';
import type { HeaderLines } from './exchange.ts';
import type { Operator, OperatorRole } from './operator-role.ts';
import type { Tag } from './tags.ts';
import type { CallWait, StreamDeclaration, WaitDeclaration } from './waiting.ts';

type QueryEntries = { readonly [name: string]: v.GenericSchema<string | undefined, unknown> };

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

type DataOf<Reply> = Reply extends ReplyDeclaration ? DeepReadonly<v.InferInput<Reply['data']>> : never;

/** The data of the only declared reply; never if there are several. */
type ReplyDataOf<R extends Replies, Status = keyof R & number, Each = Status> = Each extends keyof R
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

/**
 * A handler returns one of the declared replies, or a failure with one of the codes. If only one reply is declared, the
 * handler may return an outcome with the data of that reply.
 */
export type DeclaredResult<R extends Replies, Code extends FailureCode, Wait = never> =
  | DeclaredReply<R, Wait>
  | { readonly ok: true; readonly value: ReplyDataOf<R> }
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

interface Declaration<
  Path extends string,
  R extends Replies,
  Query extends QueryEntries,
  Body extends v.GenericSchema,
  Code extends FailureCode,
> {
  /** Its `operationId`, unique in its document. Generated clients rely on it as on the path. */
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
  /** How a stream of its pages is read. If absent, it has no stream. */
  readonly streamed?: StreamDeclaration;
  /** If true, the call counts against the month's quota, and is answered even if that is used up. By default false. */
  readonly mayExceedQuota?: boolean;
}

/** Returns the names in braces, in order. */
function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

/** Returns a declaration as the pipeline sees it, without the types of its path, query, body and replies. */
function withoutTypes<Services>(
  declaration: Declaration<string, Replies, QueryEntries, v.GenericSchema, FailureCode>,
  moreFields: Pick<Endpoint<Services>, 'permission' | 'role' | 'tenant' | 'waits'> & {
    readonly handle: unknown;
  },
): Endpoint<Services> {
  return {
    name: declaration.name,
    method: declaration.method,
    path: declaration.path,
    tag: declaration.tag,
    summary: declaration.summary,
    description: declaration.description,
    permission: moreFields.permission,
    role: moreFields.role,
    params: paramNames(declaration.path),
    query: closedObject((declaration.query ?? {}) as v.ObjectEntries),
    body: declaration.body,
    bodyExample: declaration.bodyExample,
    replies: declaration.replies,
    status: Number(Object.keys(declaration.replies)[0]),
    errors: declaration.errors ?? [],
    takesIdempotencyKey: declaration.takesIdempotencyKey ?? false,
    forwardTimeoutMs: declaration.forwardTimeoutMs,
    waits: moreFields.waits,
    streamed: declaration.streamed,
    mayExceedQuota: declaration.mayExceedQuota ?? false,
    givesFile: Object.values(declaration.replies).some(({ fileTypes }) => fileTypes !== undefined),
    tenant: moreFields.tenant,
    handle: moreFields.handle as Endpoint<Services>['handle'],
  };
}

type QueryOutput<Query extends QueryEntries> = { readonly [Name in keyof Query]: v.InferOutput<Query[Name]> };

/** Returns the function that declares endpoints of the tenants' API. */
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
      ): MaybePromise<DeclaredResult<R, NoInfer<Code> | CommonError, NoInfer<Wait>>>;
    },
  ): Endpoint<Services> {
    return withoutTypes(declaration as never, {
      permission: declaration.permission,
      role: undefined,
      waits: declaration.waits,
      tenant: 'caller',
      handle: declaration.handle,
    });
  };
}

/** Returns the function that declares endpoints of the operators' API. */
export function operatorEndpoints<Services>() {
  return function operatorEndpoint<
    const Path extends string,
    const R extends Replies,
    Query extends QueryEntries = Record<never, never>,
    Body extends v.GenericSchema = v.UndefinedSchema<undefined>,
    Code extends FailureCode = never,
  >(
    declaration: Declaration<Path, R, Query, Body, Code> & {
      readonly role: OperatorRole;
      /** `created`: the handler gets the new tenant's id as `params.tenantId`. */
      readonly tenant?: 'created';
      handle(
        request: CheckedRequest<Path, QueryOutput<Query>, v.InferOutput<Body>, Services> & {
          readonly params: { readonly tenantId: string };
          readonly operator: Operator;
        },
      ): MaybePromise<DeclaredResult<R, NoInfer<Code> | CommonOperatorError>>;
    },
  ): Endpoint<Services> {
    const tenantSource = paramNames(declaration.path).includes('tenantId') ? 'param' : 'none';
    return withoutTypes(declaration as never, {
      permission: 'operator',
      role: declaration.role,
      waits: undefined,
      tenant: declaration.tenant ?? tenantSource,
      handle: declaration.handle,
    });
  };
}
