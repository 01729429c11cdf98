import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Failure } from '../../actors/failure.ts';
import type { SupervisedTenant } from '../../actors/operators/operator-operations.ts';
import type { BatchView } from '../../actors/shops/batch-operations.ts';
import type {
  ChannelView,
  GroupView,
  MessageView,
  ScheduledView,
} from '../../actors/shops/shop-operations.ts';
import type { ContactView, ShopView } from '../../actors/tenants/tenant-operations.ts';
import type { KeyView, TenantView } from '../../actors/tenants/tenant-view.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { seededRandom } from '../../runtime/random.ts';
import type { RuntimeFailure } from '../../runtime/runtime-failure.ts';

/** A key in the fake's memory. */
export interface FakeKey {
  view: KeyView;
  hash: string;
  /** Hashes of the values it had before it was rotated. */
  retired: readonly string[];
  calls: number;
}

/** A shop in the fake's memory. */
export interface FakeShop {
  view: ShopView;
  channel: ChannelView | undefined;
  messages: MessageView[];
  scheduled: ScheduledView[];
  batches: BatchView[];
  idempotencyKey: string | undefined;
  groups: readonly GroupView[];
}

/** A tenant in the fake's memory. */
export interface FakeTenant {
  view: TenantView;
  actor: SupervisedTenant['actor'];
  keys: Map<string, FakeKey>;
  shops: Map<string, FakeShop>;
  contacts: Map<string, ContactView>;
  customers: Set<string>;
  apiCalls: number;
}

/** All that the fake remembers, and how tests steer it. */
export class FakeMemory {
  readonly tenants = new Map<string, FakeTenant>();
  readonly tenantByHash = new Map<string, string>();
  /** The answer of the next call of an operation, instead of its work: a failure, or a rejection. */
  readonly next = new Map<string, Failure | RuntimeFailure | Error>();
  /** Operations that wait for this before they answer. */
  readonly held = new Map<string, Promise<void>>();
  /** Emits the name of every operation that begins. */
  readonly begun = new EventEmitter();
  readonly newId = objectIdGenerator(seededRandom(7));

  id(): string {
    return this.newId(Date.now());
  }

  /** Takes an erased tenant or shop out of the logs. */
  forgetInLogs: (erased: { readonly tenantId?: string; readonly shopId?: string }) => Promise<void> =
    async () => undefined;

  /** Takes what a test put in the way of an operation; throws what it put there to be thrown. */
  async stopped(operation: string): Promise<{ readonly ok: false; readonly failure: Failure } | undefined> {
    this.begun.emit(operation);
    await this.held.get(operation);
    const planned = this.next.get(operation);
    this.next.delete(operation);
    if (planned === undefined) return undefined;
    if (planned instanceof Error) throw planned;
    return { ok: false, failure: planned };
  }

  tenant(id: string): FakeTenant {
    const found = this.tenants.get(id);
    if (found === undefined) throw new Error(`no tenant ${id}`);
    return found;
  }

  shop(reference: { readonly tenantId: string; readonly shopId: string }): FakeShop {
    const found = this.tenant(reference.tenantId).shops.get(reference.shopId);
    if (found === undefined) throw new Error(`no shop ${reference.shopId}`);
    return found;
  }
}

/** A key's value in the shape of real ones. */
export function newKeyValue(): string {
  return `tm_live_${randomBytes(32).toString('hex').slice(0, 43)}`;
}

/** Returns the stored hash of a key. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** A page of a list ordered as it should be shown. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): { readonly items: readonly Item[]; readonly nextCursor: string | null } {
  const from = cursor === undefined ? 0 : items.findIndex(({ id }) => id === cursor) + 1;
  const page = items.slice(from, from + limit);
  return { items: page, nextCursor: from + limit < items.length ? (page.at(-1)?.id ?? null) : null };
}
