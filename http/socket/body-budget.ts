/** Limits for bodies in reading: their number, and the bytes of memory kept for them. */
export interface BodyLimits {
  /** Limits for all callers of a node together. */
  readonly node: { readonly bodies: number; readonly bytes: number };
  /** Limits for one tenant. The operators count as a tenant, and so do all callers whose key is being looked up. */
  readonly tenant: { readonly bodies: number; readonly bytes: number };
}

/**
 * Bodies arrive in milliseconds: 2,000 busy connections have about 1,024 of them at a time. A tenant has a quarter.
 */
const DEFAULT_LIMITS: BodyLimits = {
  node: { bodies: 1_024, bytes: 32 * 1024 * 1024 },
  tenant: { bodies: 256, bytes: 8 * 1024 * 1024 },
};

/** The name under which bodies count while their key is being looked up. */
const UNKNOWN = '';

interface BudgetUse {
  bodies: number;
  bytes: number;
}

/** A slot for a body that is being read. */
export interface BodySlot {
  /** Reserves more memory; returns false and reserves nothing if there is none left. */
  grow(bytes: number): boolean;
  /** Counts the body on this tenant from now on; returns false and changes nothing if its share is used up. */
  move(tenant: string): boolean;
  /** Gives everything back. A second release does nothing. */
  release(): void;
}

/**
 * Bounds the bodies that a node is reading, by number and bytes, in total and by tenant. So neither a stranger nor one
 * tenant can use up the memory or the slots of others. A body that arrives in one piece needs no slot. Both listeners
 * of a node share one budget.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #node: BudgetUse = { bodies: 0, bytes: 0 };
  readonly #tenants = new Map<string, BudgetUse>();

  constructor(limits: BodyLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** Bodies in reading now. */
  get bodies(): number {
    return this.#node.bodies;
  }

  /** Bytes of memory kept for them now. */
  get bytes(): number {
    return this.#node.bytes;
  }

  /** Returns a slot for one more body, whose sender is not known yet. Undefined if there is none. */
  open(): BodySlot | undefined {
    const { node, tenant } = this.#limits;
    let owner = UNKNOWN;
    let use = this.#use(owner);
    if (this.#node.bodies >= node.bodies || use.bodies >= tenant.bodies) return undefined;
    let heldBytes = 0;
    let isOpen = true;
    this.#take(use, { bodies: 1, bytes: 0 });
    return {
      grow: (bytes) => {
        if (this.#node.bytes + bytes > node.bytes || use.bytes + bytes > tenant.bytes) return false;
        heldBytes += bytes;
        this.#take(use, { bodies: 0, bytes });
        return true;
      },
      move: (next) => {
        if (!isOpen) return true;
        const nextUse = this.#use(next);
        if (nextUse.bodies >= tenant.bodies || nextUse.bytes + heldBytes > tenant.bytes) return false;
        this.#give(owner, use, { bodies: 1, bytes: heldBytes });
        this.#take(nextUse, { bodies: 1, bytes: heldBytes });
        owner = next;
        use = nextUse;
        return true;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#give(owner, use, { bodies: 1, bytes: heldBytes });
      },
    };
  }

  /** Returns the present use of a tenant. It is kept only while it is not zero. */
  #use(tenant: string): BudgetUse {
    return this.#tenants.get(tenant) ?? this.#begin(tenant);
  }

  #begin(tenant: string): BudgetUse {
    const use = { bodies: 0, bytes: 0 };
    this.#tenants.set(tenant, use);
    return use;
  }

  #take(use: BudgetUse, taken: BudgetUse): void {
    for (const counted of [use, this.#node]) {
      counted.bodies += taken.bodies;
      counted.bytes += taken.bytes;
    }
  }

  #give(tenant: string, use: BudgetUse, given: BudgetUse): void {
    for (const counted of [use, this.#node]) {
      counted.bodies -= given.bodies;
      counted.bytes -= given.bytes;
    }
    if (use.bodies === 0) this.#tenants.delete(tenant);
  }
}
