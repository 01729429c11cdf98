import type { MovableClock } from './clock.ts';
import type { Faults } from './control/faults.ts';
import type { Groups } from './groups.ts';
import type { Handsets } from './handsets/handsets.ts';
import type { EntryLog, InboxEntry, StatusEntry } from './handsets/inboxes.ts';
import type { Journal } from './journal.ts';
import type { NumberLimits } from './limits/number-limits.ts';
import type { Companions } from './linking/companions.ts';
import type { MediaHost } from './media/media-host.ts';
import type { Numbers } from './numbers.ts';
import type { ClientVersions } from './queries/client-versions.ts';
import type { Connections } from './socket/connections.ts';
import type { Deliveries } from './to-clients/deliveries.ts';
import type { Notices } from './to-clients/notices.ts';
import type { OfflineHandsets, PhoneCopies, RetryCounts, SendCounts } from './unstored-state.ts';

/** The real network's times, and timeouts long enough for a slow machine. Tests can shorten all. In milliseconds. */
export const DEFAULT_TIMINGS = {
  /** How long the first QR code of a pairing is valid. The real network: 60 s. */
  qrFirstMs: 60_000,
  /** How long each of the next five is valid. The real network: 20 s. */
  qrNextMs: 20_000,
  /** How long a control call waits for a client: for its receipt of a message, or its signature when pairing. */
  clientWaitMs: 10_000,
  /** The delay before an accepted message is acknowledged. */
  ackDelayMs: 0,
  /**
   * The delay before a phone answers its companion's request for a message. The real one: 0 to 20 s, longer if it is
   * off.
   */
  phoneAnswerMs: 0,
};

export type NetworkTimings = Readonly<typeof DEFAULT_TIMINGS>;

/** The parts of the simulated network. Handlers of stanzas and control calls work on them. */
export interface Network {
  readonly timings: NetworkTimings;
  /** The least number of one-time keys that the server claims to have. At 0 a new client uploads 812 of them. */
  readonly claimedPreKeys: number;
  /** If true, a message to a LID that does not name the number is refused. */
  readonly lidsNeedNumber: boolean;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly numbers: Numbers;
  readonly handsets: Handsets;
  readonly retries: RetryCounts;
  readonly sendCounts: SendCounts;
  readonly offline: OfflineHandsets;
  readonly companions: Companions;
  readonly connections: Connections;
  readonly inboxes: EntryLog<InboxEntry>;
  readonly statuses: EntryLog<StatusEntry>;
  readonly groups: Groups;
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  readonly limits: NumberLimits;
  readonly copies: PhoneCopies;
  /** Senders that were seen composing since their last message to a chat: `sender chat`, a number or a group. */
  readonly composing: Set<string>;
  readonly faults: Faults;
  readonly versions: ClientVersions;
  readonly media: MediaHost;
  /** Returns a new stanza id in upper-case hex, the form of clients and servers. */
  newId(): string;
  /** Reports something for a developer. Never message texts or keys. */
  log(event: SimulatorEvent): void;
}

/** One line of the simulator's log. */
export interface SimulatorEvent {
  readonly event: string;
  readonly [detail: string]: unknown;
}
