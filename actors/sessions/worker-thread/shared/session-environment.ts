import type { Clock } from '../../../../runtime/clock.ts';
import type { Deadlines } from '../../../../runtime/deadlines.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import type { FairSlots } from '../../../../runtime/fair-slots.ts';
import type { AddressGuard } from '../../../outbound/address-guard.ts';
import type { ResolveAll } from '../../../outbound/name-lookup.ts';
import type { CredentialCipher } from '../../credential-cipher.ts';
import type { EgressVault } from '../../egress-vault.ts';
import { DEFAULT_SESSION_TIMING, type SessionTiming } from '../../session-timing.ts';
import type { WorkerMessage } from '../../worker-protocol.ts';
import type { SealedCache } from '../store/sealed-cache.ts';
import type { AskStore } from '../store/sealed-store.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { UnacknowledgedOrders } from './unacknowledged.ts';

/** The settings for fetching attachments and histories. */
export interface MediaEnvironment {
  readonly guard: AddressGuard;
  readonly resolve: ResolveAll;
  /** A tenant's slots for attachments that are fetched, encrypted and uploaded. */
  readonly slots: FairSlots;
  /** A tenant's slot for a history that is read. */
  readonly histories: FairSlots;
  /** Certificate of the authority of the network's media hosts, PEM. If undefined, the system's certificates alone. */
  readonly ca: string | undefined;
  /** Reports that the file of an attachment could not be written. */
  onUnwritable(cause: string): void;
}

/** Shared by all sessions of one worker. */
export interface SessionEnvironment {
  readonly socketUrl: string;
  readonly deviceName: string;
  readonly media: MediaEnvironment;
  /** Opens the sealed egress of a shop. */
  readonly egressVault: Pick<EgressVault, 'open'>;
  readonly timing: SessionTiming;
  readonly clock: Clock;
  /** The share of the time since the last call in which the thread worked, from 0 to 1. */
  readonly busyShare: () => number;
  /** Acts at moments that all sessions share. All events of one such moment reach the main thread together. */
  readonly sharedDeadlines: Deadlines<() => void>;
  /** By `tenantId/shopId`. */
  readonly ciphers: (shop: string) => CredentialCipher;
  readonly ask: AskStore;
  /** One slot: the stored keys of one shop at a time are looked through. */
  readonly lookThroughs: FairSlots;
  /** A slot for each message that is prepared or sent. One whose attachment is fetched has none, and no repeat has. */
  readonly sendSlots: FairSlots;
  /** Sealed values that were read or written last. */
  readonly sealedCache: SealedCache;
  readonly post: (message: WorkerMessage) => void;
  /** Remembers the number by which the network knows a number (E.164), or false if it knows none. */
  readonly numbers: ExpiringCache;
}

/** Data that the client forgets with a socket and a shop should keep across reconnections. Never credentials. */
export interface ShopMemory {
  /** How often a message was sent again, and who was answered about one. */
  readonly retries: ExpiringCache;
  /** The wire ids of orders, by the ids under which they went to another address. */
  readonly formerWireIds: ExpiringCache;
  /** Orders that left on a connection that was lost before the network acknowledged them. */
  readonly unacknowledged: UnacknowledgedOrders;
  /** Devices that are left out, because the network has no keys of them or did not give them. */
  readonly keyless: ExpiringCache;
  /** Numbers whose LID the network does not name. */
  readonly lidless: ExpiringCache;
  /** Devices of the people written to, and of the shop itself (`keepDevices`). */
  readonly devices: ExpiringCache;
  /** Groups whose last post's acknowledgement named other devices than the post was for. */
  readonly otherDevices: ExpiringCache;
  readonly calls: ExpiringCache;
  readonly placeholders: ExpiringCache;
  /**
   * The numbers that stanzas named in addition to the network's own ids of their senders, by the ids of unread stanzas.
   */
  readonly numbersBeside: ExpiringCache;
}

/** Returns a shop's memory. Caches that replace the client's live as long as those (its DEFAULT_CACHE_TTLS). */
export function newShopMemory(
  clock: Clock,
  { devicesMs }: Pick<SessionTiming, 'devicesMs'> = DEFAULT_SESSION_TIMING,
): ShopMemory {
  const cache = (lifeMs: number, maxEntries: number): ExpiringCache =>
    new ExpiringCache({ lifeMs, maxEntries, nowMs: () => clock.monotonicMs() });
  return {
    retries: cache(HOUR_MS, 1_000),
    formerWireIds: cache(2 * DAY_MS, 1_000),
    unacknowledged: new UnacknowledgedOrders(clock),
    keyless: cache(HOUR_MS, 2_000),
    lidless: cache(HOUR_MS, 2_000),
    devices: cache(devicesMs, 2_000),
    otherDevices: cache(5 * MINUTE_MS, 500),
    calls: cache(5 * MINUTE_MS, 50),
    placeholders: cache(HOUR_MS, 500),
    numbersBeside: cache(DAY_MS, 500),
  };
}
