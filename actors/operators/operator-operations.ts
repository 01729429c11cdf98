import type { ActorSnapshot } from '../../runtime/actors.ts';
import type { FailureCode, Outcome } from '../failure.ts';
import type { deadLetter, deleted, deleting, erasure, node } from '../reply-schemas/operator-schemas.ts';
import type { CursorPage, PageQuery, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { ShopCensus } from '../shops/inspection/shop-census.ts';
import type { ShopActorView, ShopInspection } from '../shops/inspection/shop-inspection.ts';
import type { ShopSummary } from '../shops/inspection/shop-summary.ts';
import type { ShopReference } from '../shops/shop-operations.ts';
import type { CustomerView } from '../tenants/customer-list.ts';
import type { ShopDraft, ShopView } from '../tenants/tenant-operations.ts';
import type { FreshKeyView, KeyDraft, KeyView, TenantChanges, TenantView } from '../tenants/tenant-view.ts';
import type { ClientVersionView } from './client-version-setting.ts';
import type { ResumedActors, SuspendedFilter } from './resume-suspended.ts';

/** A tenant and the status of its actor. Unless that is `active`, each call of the tenant waits or is refused. */
export interface SupervisedTenant extends TenantView {
  readonly actor: Pick<ActorSnapshot, 'status' | 'restarts' | 'lastError'>;
}

export interface EgressView {
  /** The shop's id. */
  readonly id: string;
  /** Without the password. Null if there is none. */
  readonly egress: string | null;
}

/** A node as the answering node knows it. Only the answering node has a lease margin, in milliseconds. */
export type FleetNode = ReplyOf<typeof node>;

/** A command that made an actor throw, without its content. */
export type DeadLetterView = ReplyOf<typeof deadLetter>;

/**
 * The progress of an erasure of a tenant, shop or person; `shopsLeft`, `peopleLeft`: those of the tenant that are still
 * to be erased.
 */
export type DeletionReply = ReplyOf<typeof deleted | typeof deleting>;

/**
 * A running erasure. `id` is the tenant. `wholeTenant` is false if only shops of it, or people who wrote to them, are
 * erased.
 */
export type ErasureView = ReplyOf<typeof erasure>;

/** The outcome of an operation on something that may not exist. */
export type LookupOutcome<Value, Code extends FailureCode = never> = Outcome<Value, 'NOT_FOUND' | Code>;

/** Operations on one tenant, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface OperatorOperations {
  /**
   * Creates a tenant. The caller made `tenantId`, so that the request could be routed to its shard. A repeated call
   * creates nothing new.
   */
  createTenant(
    tenantId: string,
    tenant: TenantChanges & { readonly name: string },
  ): Promise<Outcome<TenantView, 'VALIDATION_ERROR'>>;
  /** Returns a tenant. One that is suspended is as its last commit left it. */
  tenant(tenantId: string): Promise<LookupOutcome<SupervisedTenant>>;
  /** Resumes a suspended or crashed actor and returns its new status. A running one is unchanged. */
  resumeTenant(tenantId: string): Promise<LookupOutcome<SupervisedTenant>>;
  changeTenant(
    tenantId: string,
    changes: TenantChanges,
  ): Promise<LookupOutcome<TenantView, 'VALIDATION_ERROR'>>;
  /**
   * Erases a tenant: its sessions, credentials, messages, keys, contacts and windows. Waits at most a second for the
   * end, and may be called again while it runs.
   */
  deleteTenant(tenantId: string): Promise<LookupOutcome<DeletionReply>>;
  deleteShop(shop: ShopReference): Promise<LookupOutcome<DeletionReply>>;
  /**
   * Erases a person who wrote: their messages to the tenant's shops with the events, their id, and the content of ended
   * messages to them. A STOP stays in force. `personId`: the `fromId` of inbound messages.
   */
  deletePerson(tenantId: string, personId: string): Promise<LookupOutcome<DeletionReply>>;
  /** Returns a running erasure. `NOT_FOUND`: nothing of the tenant is being erased, or all of it was. */
  erasure(tenantId: string): Promise<LookupOutcome<ErasureView>>;
  importShop(tenantId: string, draft: ShopDraft): Promise<LookupOutcome<ShopView>>;
  /**
   * Sets a shop's egress, or with null the node's own address. If that is a change, its session is reopened.
   * `VALIDATION_ERROR`: the address of the proxy is invalid. `EGRESS_UNREACHABLE`: no connection could be made through
   * it.
   */
  setEgress(
    shop: ShopReference,
    egress: string | null,
  ): Promise<LookupOutcome<EgressView, 'VALIDATION_ERROR' | 'EGRESS_UNREACHABLE'>>;
  /** Adds numbers from the tenant's customer records; these recipients count as known. */
  addCustomers(
    tenantId: string,
    phones: readonly string[],
  ): Promise<LookupOutcome<{ readonly added: number }>>;
  /**
   * Returns customers in the order of their numbers. `q` matches a part of a number. `cursor` is the last number of the
   * page before.
   */
  listCustomers(
    tenantId: string,
    query: PageQuery & { readonly q: string | undefined },
  ): Promise<LookupOutcome<CursorPage<CustomerView>>>;
  removeCustomers(
    tenantId: string,
    phones: readonly string[],
  ): Promise<LookupOutcome<{ readonly removed: number }>>;
  createKey(tenantId: string, key: KeyDraft): Promise<LookupOutcome<FreshKeyView>>;
  listKeys(tenantId: string): Promise<LookupOutcome<readonly KeyView[]>>;
  /** Gives a key a new value. The old one stops at once. `CONFLICT`: the key is revoked. */
  rotateKey(tenantId: string, keyId: string): Promise<LookupOutcome<FreshKeyView, 'CONFLICT'>>;
  revokeKey(tenantId: string, keyId: string): Promise<LookupOutcome<KeyView>>;
  /** Pauses a shop's queue until `resume`. */
  pause(shop: ShopReference): Promise<LookupOutcome<ShopInspection>>;
  /** Starts a suspended actor again and ends the operator's pause. */
  resume(shop: ShopReference): Promise<LookupOutcome<ShopInspection>>;
  restart(shop: ShopReference): Promise<LookupOutcome<ShopInspection>>;
  /** Passivates a shop's actor. `CONFLICT`: it has a session or work in its queue. */
  passivate(shop: ShopReference): Promise<LookupOutcome<{ readonly passivated: true }, 'CONFLICT'>>;
  /** Returns the actor's current state. An inactive actor is activated. */
  inspectShop(shop: ShopReference): Promise<LookupOutcome<ShopInspection>>;
}

/**
 * Operators' requests to one node: about its own actors, and about what all nodes share. `http/operator-api/fleet/`
 * asks every node about its actors, and joins the answers.
 */
export interface NodeOperations {
  /** Returns tenants, newest first. They are read from the operators' directory, a projection. */
  listTenants(query: PageQuery & { readonly q: string | undefined }): Promise<CursorPage<TenantView>>;
  /** Visits all active and suspended shops of this node in small steps, each with its current state. */
  eachShop(visit: (shop: ShopSummary) => void): Promise<void>;
  /**
   * Returns one actor by its summary's id, with only the head of a long queue. Undefined if it is neither active nor
   * suspended here any more.
   */
  localShop(id: string): ShopActorView | undefined;
  /** Starts matching suspended shops and tenants of this node again, a limited number in one call. */
  resumeSuspended(filter: SuspendedFilter): Promise<ResumedActors>;
  /** Counts the states of this node's shops, at most a second old. */
  census(): Promise<ShopCensus>;
  /** Returns this node's name, and the state of its session workers. */
  self(): { readonly nodeId: string; readonly workers: 'available' | 'lost' };
  nodes(): Promise<readonly FleetNode[]>;
  /** Returns the owner of each shard, as this node last read it. Null if there is none. */
  shards(): readonly { readonly shard: number; readonly nodeId: string | null; readonly epoch: number }[];
  deadLetters(query: PageQuery): Promise<CursorPage<DeadLetterView>>;
  deadLetter(id: string): Promise<LookupOutcome<DeadLetterView>>;
  replayDeadLetter(id: string): Promise<LookupOutcome<{ readonly id: string; readonly replayed: true }>>;
  /** The versions that clients may announce. */
  clientVersion(): Promise<ClientVersionView>;
  /** Sets the version for the whole fleet; null removes the setting. */
  setClientVersion(version: string | null): Promise<ClientVersionView>;
}
