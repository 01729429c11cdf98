/** Counts what the readers of open replies have not taken, against what a tenant's and a node's may leave. */
export class UnreadBytes {
  readonly #most: { readonly tenant: number; readonly node: number };
  readonly #ofTenant = new Map<string, number>();
  #bytes = 0;

  constructor(most: { readonly tenant: number; readonly node: number }) {
    this.#most = most;
  }

  /** Bytes of all tenants. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts so many bytes more, or fewer. False where they are more and go beyond a bound: what was written last is too much. */
  change(tenantId: string, bytes: number): boolean {
    if (bytes === 0) return true;
    const ofTenant = (this.#ofTenant.get(tenantId) ?? 0) + bytes;
    if (ofTenant > 0) this.#ofTenant.set(tenantId, ofTenant);
    else this.#ofTenant.delete(tenantId);
    this.#bytes += bytes;
    return bytes < 0 || (ofTenant <= this.#most.tenant && this.#bytes <= this.#most.node);
  }
}
