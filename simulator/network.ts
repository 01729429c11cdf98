import type { ClientVersions } from './client-versions.ts';
import type { MovableClock } from './clock.ts';
import type { Companions } from './companions.ts';
import type { Connections } from './connections.ts';
import type { Deliveries } from './deliveries.ts';
import type { Faults } from './faults.ts';
import type { Groups } from './groups.ts';
import type { Handsets } from './handsets.ts';
import type { EntryLog, InboxEntry, StatusEntry } from './inboxes.ts';
import type { Journal } from './journal.ts';
import type { MediaHost } from './media-host.ts';
import type { Notices } from './notices.ts';
import type { NumberLimits } from './number-limits.ts';
import type { Numbers } from './numbers.ts';
import type { OfflineHandsets } from './offline-handsets.ts';
import type { PhoneCopies } from './phone-copies.ts';
import type { RetryCounts } from './retry-counts.ts';
import type { SendCounts } from './send-counts.ts';

/** How the network behaves where real time would make tests slow. All times in milliseconds. */
export interface NetworkTimings {
  /** How long the first QR code of a pairing can be scanned. The real network: 60 s. */
  readonly qrFirstMs: number;
  /** How long each of the five that follow can be scanned. The real network: 20 s. */
  readonly qrNextMs: number;
  /** How long a control call waits for a client: its receipt of a message, its signature when pairing. */
  readonly clientWaitMs: number;
  /** How long an accepted message waits for its acknowledgement. */
  readonly ackDelayMs: number;
  /** How long a phone takes to tell its companion of a message. The real one: 0 to 20 s, longer where it is off. */
  readonly phoneAnswerMs: number;
}

/** The parts of the simulated network, which the handlers of stanzas and control calls work on. */
export interface Network {
  readonly timings: NetworkTimings;
  /** The least number of one-time keys the server claims to hold. At 0 a new client uploads 812 of them. */
  readonly claimedPreKeys: number;
  /** Whether a message to a LID that does not name the number is refused. */
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
  readonly typing: Typing;
  readonly faults: Faults;
  readonly versions: ClientVersions;
  readonly media: MediaHost;
  /** A new upper-case hex id, as clients and servers give stanzas. */
  newId(): string;
  /** Reports something a developer may want to see. Never message texts or keys. */
  log(event: SimulatorEvent): void;
}

/** One line of the simulator's log. */
export interface SimulatorEvent {
  readonly event: string;
  readonly [detail: string]: unknown;
}

/** Who was seen composing to whom since their last message there. Held in memory: presence is not stored. */
export class Typing {
  readonly #composing = new Set<string>();

  /** The sender is composing in the chat: a number's digits or a group's id. */
  seen(sender: string, chat: string): void {
    this.#composing.add(`${sender} ${chat}`);
  }

  /** Whether the sender was seen composing since its last message. True once: the call clears it. */
  take(sender: string, chat: string): boolean {
    return this.#composing.delete(`${sender} ${chat}`);
  }
}
