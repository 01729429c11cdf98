import type { InboundMode } from '../../actors/inbound-mode.ts';
import type {
  SendOrder,
  SessionAddress,
  SessionEvent,
  SessionGroup,
} from '../../actors/sessions/session-host.ts';
import type { MemorySession } from './memory-session.ts';

/** What the network says about the limits of a number. */
export type ToldLimits = Omit<Extract<SessionEvent, { type: 'session.limits' }>, 'type' | 'generation'>;

/** What the network in memory knows of a shop. */
export interface MemoryShop {
  readonly address: SessionAddress;
  session: MemorySession | undefined;
  inbound: InboundMode;
  pairing: { readonly phone: string; readonly atMs: number } | undefined;
  groups: readonly SessionGroup[];
  readonly sent: SendOrder[];
  /** The people who wrote: each has a chat with the number. */
  readonly writers: Set<string>;
  /** The limits of the number that the network last reported. */
  limits: ToldLimits;
}
