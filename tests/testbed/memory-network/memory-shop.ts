import type { InboundMode } from '../../../actors/inbound-mode.ts';
import type { SessionEventOf, SessionGroup } from '../../../actors/sessions/session-events.ts';
import type { SendOrder, SessionAddress } from '../../../actors/sessions/session-host.ts';
import type { MemorySession } from './memory-session.ts';

/** The limits of a number that the network announces. */
export type ToldLimits = Omit<SessionEventOf<'session.limits'>, 'type' | 'generation'>;

/** A message that was marked as read: its stanza, and its sender by number or by the network's own id. */
export interface ReadMessage {
  readonly from: string;
  readonly wireId: string;
}

/** A shop, as the network in memory knows it. */
export interface MemoryShop {
  readonly address: SessionAddress;
  session: MemorySession | undefined;
  inbound: InboundMode;
  pairing: { readonly phone: string; readonly atMs: number } | undefined;
  groups: readonly SessionGroup[];
  readonly sent: SendOrder[];
  readonly read: ReadMessage[];
  /** The people who wrote: each has a chat with the number. */
  readonly writers: Set<string>;
  /** The limits of the number that the network last reported. */
  limits: ToldLimits;
}
