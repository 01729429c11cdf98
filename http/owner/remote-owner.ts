/**
 * Forwards requests from the node that took them to the one that owns their tenant. Payloads are what
 * `RunningHttp.serveForwarded` takes there, and answers. Everything rejects with `RuntimeFailure` only.
 */
export interface Forwarder {
  /** True when this node owns the tenant's shard, as far as it knows. */
  ownerIsLocal(tenantId: string): boolean;
  /** Returns the tenant's owner and its epoch, as one text to compare. Undefined if no owner is known here. */
  ownership(tenantId: string): string | undefined;
  /** False when no node is left that could take a tenant: this one gave its own away and knows of no other. */
  ownerMayCome(): boolean;
  /** Runs the payload on the owner, here or on the node that it is forwarded to. */
  forward(tenantId: string, payload: string, timeoutMs: number): Promise<string>;
  /** True when this node owns the shard and its lease holds now; asked just before an owner's reply is released. */
  stillOwner(tenantId: string): boolean;
  /** Ids of the other live nodes. */
  otherNodes(): readonly string[];
  /** Runs the payload on one of the other nodes. */
  forwardToNode(nodeId: string, payload: string, timeoutMs: number): Promise<string>;
}

/**
 * A forwarded request is given up after two seconds (docs/contract.md, Codes of the service), unless the endpoint itself waits
 * longer.
 */
export const FORWARD_TIMEOUT_MS = 2_000;
