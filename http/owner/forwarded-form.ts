import type { ReplyValue } from '../contract/exchange.ts';
import type { OwnerReply } from './owner-reply.ts';
import type { TenantRequest } from './serve-as-owner.ts';
import type { OperatorRequest } from './serve-operator.ts';

/**
 * A request to another node. The owner of the tenant serves `api` and `operator` there, and `gone` ends a call of the
 * kind `api`. The other kinds read or resume what is on that node.
 */
export type NodeRequest =
  | {
      readonly kind: 'api';
      readonly method: string;
      readonly path: string;
      readonly request: TenantRequest;
      /** Names a call that may take long, so that `gone` can end it. */
      readonly waitId?: string | undefined;
    }
  /** The caller of that call has disconnected, or the node that took it stops. */
  | { readonly kind: 'gone'; readonly waitId: string }
  | {
      readonly kind: 'operator';
      readonly method: string;
      readonly path: string;
      readonly parts: OperatorRequest & { readonly tenantId: string };
    }
  | { readonly kind: 'actors'; readonly query: ActorsQuery }
  | { readonly kind: 'overview' }
  | { readonly kind: 'resume_all'; readonly filter: SuspendedQuery }
  /** The events after the position in the last reply. */
  | { readonly kind: 'events'; readonly since: string };

export const ACTOR_SORTS = ['mailbox', 'oldest', 'restarts', 'id', 'queue', 'waiting', 'trouble'] as const;

/** Selects and sorts the actors of a node. */
export interface ActorsQuery {
  /**
   * `queue` is the number of waiting messages, `waiting` the age of the oldest, `trouble` the urgency for an operator.
   */
  readonly sort: (typeof ACTOR_SORTS)[number];
  readonly state: string | undefined;
  readonly q: string | undefined;
  readonly limit: number;
  /** Continues after this one, in the order of `sort`. */
  readonly after: { readonly rank: number; readonly id: string } | undefined;
}

/** Selects the suspended actors of a node to resume. */
export interface SuspendedQuery {
  readonly tenantId: string | undefined;
  readonly cause: string | undefined;
}

/** Serialises a request to another node. */
export function encodeForwarded(nodeRequest: NodeRequest): string {
  return JSON.stringify(nodeRequest);
}

/** Reads a request of another node. During a rollout that node may run the release before this one. */
export function decodeForwarded(payload: string): NodeRequest {
  return JSON.parse(payload) as NodeRequest;
}

/** Serialises an owner's reply; its body is text. */
export function encodeOwnerReply({ reply, keyId, hasMoved, file }: OwnerReply): string {
  return JSON.stringify({ reply, keyId, moved: hasMoved, file });
}

/** Reads an owner's reply. */
export function decodeOwnerReply(payload: string): OwnerReply {
  const sentReply = JSON.parse(payload) as Pick<OwnerReply, 'reply' | 'file'> & {
    readonly keyId?: string;
    readonly moved?: boolean;
  };
  const { reply, keyId, moved: hasMoved = false, file } = sentReply;
  return { reply: withCode(reply), keyId, hasMoved, file };
}

/** Matches the start of a refusal. The code is the first field of its error. */
const REFUSAL = /^\{"success":false,"error":\{"code":"([A-Z_]+)"/;

/** Returns the reply with its code. A node of 0.2.0 sends the code of a refusal in the body alone. */
function withCode(reply: ReplyValue): ReplyValue {
  const { status, code, body } = reply;
  if (status < 400 || code !== undefined || typeof body !== 'string') return reply;
  return { ...reply, code: REFUSAL.exec(body)?.[1] };
}
