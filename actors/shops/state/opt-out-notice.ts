import type { ShopReference } from '../shop-operations.ts';

/** An opt-out that a pool shop must still report to another shop. */
export interface OptOutNotice {
  /** The shop the opted-out person was written to for. */
  readonly origin: ShopReference;
  /** E.164 with plus, or the network's own id (LID) of a person if it sends no number. */
  readonly from: string;
  /** The network's own id of the person, if it sent one. Notices of 0.2.0 have none. */
  readonly lid?: string;
  /** The network's id of the person's message, and its timestamp in milliseconds since the Unix epoch. */
  readonly wireId: string;
  readonly atMs: number;
  /** The time of the next notice to the origin. It is not stored, so after a restart the notice is sent at once. */
  readonly repeatAtMs: number;
}

/** Returns the field a notice is stored under: one for each person and origin, the newest. */
export function noticeField({ origin, from }: Pick<OptOutNotice, 'origin' | 'from'>): string {
  return `${origin.tenantId}/${origin.shopId} ${from}`;
}

/** Returns the stored form. */
export function encodeNotice({ origin, from, lid, wireId, atMs }: OptOutNotice): string {
  return JSON.stringify({ origin, from, lid, wireId, atMs });
}

/** Reads notices back. Each of them is due at once. */
export function decodeNotices(values: readonly string[]): OptOutNotice[] {
  return values.map((text) => ({
    ...(JSON.parse(text) as Omit<OptOutNotice, 'repeatAtMs'>),
    repeatAtMs: 0,
  }));
}
