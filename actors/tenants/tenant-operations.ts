import type { RateBucket } from '../../policy/limits/key-limits.ts';
import type { DeclarationPolicyCode } from '../../policy/refusal.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Failure, Outcome } from '../failure.ts';
import type { Permission } from '../permission.ts';
import type { contact, identity } from '../reply-schemas/account-schemas.ts';
import type { CursorPage, PageQuery, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { shop } from '../reply-schemas/shop-schemas.ts';

/** A caller with an accepted key, for one request. */
export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
  readonly permissions: ReadonlySet<Permission>;
}

/**
 * The answer to "may this key call now?". `rate` is set once key, address and tenant are accepted, so that errors carry
 * the rate headers too. An admitted call has been counted in its windows and in the month's `api_calls`.
 */
export type Admission =
  | { readonly isAdmitted: true; readonly caller: Caller; readonly rate: RateBucket }
  | {
      readonly isAdmitted: false;
      readonly failure: Failure;
      readonly rate?: RateBucket;
      readonly keyId?: string;
    };

/** `GET /me`. */
export type Identity = ReplyOf<typeof identity>;

/** A shop as the API shows it. `channelStatus.msgapp` is null until the first connection. */
export type ShopView = ReplyOf<typeof shop>;

/** The data of a new shop as the caller gave it, valid in shape. */
export interface ShopDraft {
  readonly name: string;
  readonly phone?: string | undefined;
}

/** The result of a shop's creation. */
export interface MadeShop {
  readonly shop: ShopView;
  /** True if the same idempotency key had made it. */
  readonly isReplayed: boolean;
  /** True if it was made with other fields. */
  readonly differs: boolean;
}

/** A contact as it is declared, valid in shape. */
export interface DeclaredContact {
  readonly phone: string;
  readonly note?: string | undefined;
  readonly expiresAt?: string | undefined;
}

/** A declared contact as the API shows it. */
export type ContactView = ReplyOf<typeof contact>;

/** A number's contact after a revocation: its record, or an empty one if it was never declared. */
export type RevokedContactView =
  | ContactView
  | (Readonly<Record<Exclude<keyof ContactView, 'phone' | 'active'>, null>> & {
      readonly phone: string;
      readonly active: false;
    });

/** The other conditions of a call, in addition to its key and its address. */
export interface AdmissionTerms {
  /**
   * The node is overloaded: a call whose key, address and tenant are accepted is refused OVERLOADED and counts nothing,
   * unless it continues.
   */
  readonly isBusy: boolean;
  /** The quota counts the call and never refuses it. */
  readonly mayExceedQuota: boolean;
  /**
   * True if the call continues one that was counted as it began: key, address and tenant are checked, nothing is
   * counted.
   */
  readonly isContinued?: boolean | undefined;
}

/** The reason why no shop is made. */
export type ShopCreationCode =
  | 'SHOP_LIMIT_REACHED'
  | 'SHOP_NAME_TAKEN'
  | 'TENANT_OWNER_MISSING'
  | 'API_KEY_INVALID';

/** The reason why a path names no shop. `AMBIGUOUS_SHOP` has the candidates. */
export type NamedShopCode = 'SHOP_NOT_FOUND' | 'AMBIGUOUS_SHOP' | 'API_KEY_INVALID';

/**
 * The API's operations on a tenant, on the node that owns its shard. `API_KEY_INVALID`: the tenant was erased after the
 * call was admitted. Rejects only with `RuntimeFailure`, also if the tenant has moved.
 */
export interface TenantOperations {
  /**
   * Authenticates and counts one call: key, revocation, expiry, address, tenant, overload, windows, quota, in this
   * order. `keyHash`: SHA-256 of the presented key in hex; `ip`: the caller's address. Synchronous when the tenant is
   * active here.
   */
  admit(
    request: { readonly tenantId: string; readonly keyHash: string; readonly ip: string },
    terms: AdmissionTerms,
  ): MaybePromise<Admission>;
  identity(caller: Caller): MaybePromise<Outcome<Identity, 'API_KEY_INVALID'>>;
  /** Returns a page of shops, newest first. */
  listShops(
    tenantId: string,
    page: { readonly page: number; readonly limit: number },
  ): Promise<
    Outcome<
      {
        readonly items: readonly ShopView[];
        readonly page: number;
        readonly limit: number;
        readonly total: number;
      },
      'API_KEY_INVALID'
    >
  >;
  /** Decides in this order: replay → plan → name → owner. */
  createShop(
    tenantId: string,
    draft: ShopDraft,
    idempotencyKey: string | undefined,
  ): Promise<Outcome<MadeShop, ShopCreationCode>>;
  /** Finds a shop by its id, or by its name in any case. */
  findShop(tenantId: string, idOrName: string): Promise<Outcome<ShopView, NamedShopCode>>;
  /** Like `findShop`, but returns only the shop's id, and at once if the tenant is active here. */
  shopId(tenantId: string, idOrName: string): MaybePromise<Outcome<string, NamedShopCode>>;
  /** Returns contacts, oldest first. The cursor is an id. */
  listContacts(
    tenantId: string,
    query: PageQuery & { readonly activeOnly: boolean },
  ): Promise<Outcome<CursorPage<ContactView>, 'API_KEY_INVALID'>>;
  /** Declares all contacts or none. Items have a valid shape. */
  declareContacts(
    tenantId: string,
    contacts: readonly DeclaredContact[],
  ): Promise<
    Outcome<
      { readonly accepted: number; readonly contacts: readonly ContactView[] },
      DeclarationPolicyCode | 'API_KEY_INVALID'
    >
  >;
  /** Accepts either form of a number. A number that was never declared stays unchanged. */
  revokeContact(tenantId: string, phone: string): Promise<Outcome<RevokedContactView, 'API_KEY_INVALID'>>;
}
