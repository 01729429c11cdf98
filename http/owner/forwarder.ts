import { REPLY_MS } from '../../actors/with-reply-timeout.ts';

/**
 * Forwards requests from the node that took them to the one that owns their tenant. `RunningHttp.serveForwarded` takes
 * the payloads there, and returns the replies. Everything rejects with `RuntimeFailure` only.
 */
export interface Forwarder {
  /**
   * True if this node owns the tenant's shard and its lease is valid now. It is also asked just before an owner's reply
   * is shown.
   */
  ownerIsLocal(tenantId: string): boolean;
  /** Returns the tenant's owner and its epoch, as one text to compare. Undefined if no owner is known here. */
  ownership(tenantId: string): string | undefined;
  /** Returns false if no node is left that could take a tenant: this one gave its own away and knows of no other. */
  ownerMayCome(): boolean;
  /** Runs the payload on the owner, here or on the node that it is forwarded to. */
  forward(tenantId: string, payload: string, timeoutMs: number): Promise<string>;
  /** Returns the ids of the other live nodes. */
  otherNodes(): readonly string[];
  /** Runs the payload on one of the other nodes. */
  forwardToNode(nodeId: string, payload: string, timeoutMs: number): Promise<string>;
}

/** Time limit of a forwarded request, in milliseconds. An endpoint that takes longer names its own. */
export const FORWARD_TIMEOUT_MS = REPLY_MS;
