import type { NetworkLimits } from '../../../policy/network-limits.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import type { Read, Write } from '../../../runtime/store.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';

/**
 * How long after its last use a number is remembered at its tenant, in milliseconds: 30 days (docs/contract.md, A
 * number and its shops).
 */
export const NUMBER_MEMORY_MS = 30 * DAY_MS;

/**
 * The shop of a tenant that has the number connected, or had it last. Written in the commit that connects the shop, so
 * that no shop is connected without it.
 */
export interface NumberUse {
  readonly shopId: string;
  /**
   * Set once the shop took another number: when it last had this one, and the state of this one then. If absent, the
   * channel has the state.
   */
  readonly left?: {
    readonly atMs: number;
    readonly warmupSinceMs: number | null;
    /** The limits that the network reported. Absent if there are none. */
    readonly limits?: NetworkLimits;
  };
}

/** Stores the number's present shop. */
export function numberUseWrite(tenantId: string, phone: string, use: NumberUse): Write {
  return ['HSET', tenantKeys(tenantId).numbers, phone, JSON.stringify(use)];
}

/** Returns the read of the number's shop; `decodeNumberUse` decodes the answer. */
export function numberUseRead(tenantId: string, phone: string): Read<'HGET'> {
  return ['HGET', tenantKeys(tenantId).numbers, phone];
}

/** Reads it back, or undefined if no shop is stored for the number. */
export function decodeNumberUse(text: string | null | undefined): NumberUse | undefined {
  return text == null ? undefined : (JSON.parse(text) as NumberUse);
}
