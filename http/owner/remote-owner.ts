/**
 * How a request gets from the node that took it to the one that owns its tenant. Payloads are what
 * `RunningHttp.serveForwarded` takes there, and answers. Everything rejects with `RuntimeFailure` only.
 */
export interface Forwarder {
  /** True when this node owns the tenant's shard, as far as it knows. */
  ownerIsLocal(tenantId: string): boolean;
  /** Who owns the tenant and since when, as one word; undefined: nobody that this node has heard of. */
  ownership(tenantId: string): string | undefined;
  /** False when nobody is left to take a tenant: this node gave its own away, and it knows of no other. */
  ownerMayCome(): boolean;
  /** Runs the payload on the owner, at most one hop away. */
  forward(tenantId: string, payload: string, timeoutMs: number): Promise<string>;
  /** True when this node owns the shard and its lease holds now; asked just before an owner's reply is released. */
  stillOwner(tenantId: string): boolean;
  /** Ids of the other live nodes. */
  otherNodes(): readonly string[];
  /** Runs the payload on one of them. */
  forwardToNode(nodeId: string, payload: string, timeoutMs: number): Promise<string>;
}

/**
 * A hop is given up after two seconds (docs/contract.md, Codes of our own), unless the endpoint itself waits
 * longer.
 */
export const FORWARD_TIMEOUT_MS = 2_000;
