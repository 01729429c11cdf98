import type { GroupMetadata, WASocket } from '@whiskeysockets/baileys';
import type { SessionContext } from '../shared/session-context.ts';
import { queryErrorCode } from '../shared/session-end.ts';
import { personOf } from '../wire/inbound-message.ts';
import { GroupMembers } from './group-members.ts';

/** Several changes of one group within this time lead to one request. */
const QUIET_MS = 500;
/**
 * Minimum time in milliseconds between two requests for one group. Within it at most `MOST_REQUESTS` groups are
 * requested, in addition to those with a notice.
 */
const REQUEST_FLOOR_MS = 1_000;
const MOST_REQUESTS = 5;
/** A timer of Node fires up to this much early, in milliseconds. */
const TIMER_EARLY_MS = 1;

/**
 * The groups of one live session. A notice names a changed group without the change, so the group is then requested
 * from the network. A request that times out never empties the list.
 */
export class GroupDirectory {
  readonly #context: SessionContext;
  readonly #socket: WASocket;
  readonly #ownAddresses: () => readonly string[];
  readonly #groups = new Map<string, GroupMetadata>();
  readonly #members = new WeakMap<GroupMetadata, GroupMembers>();
  readonly #stale = new Set<string>();
  /** Requests for single groups without a reply so far. A second caller gets the same reply. */
  readonly #requests = new Map<string, Promise<void>>();
  /** The time of the last or next request for each single group. */
  readonly #requestedAtMs = new Map<string, number>();
  #asking: Promise<void> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isKnown = false;

  constructor(context: SessionContext, socket: WASocket, ownAddresses: () => readonly string[]) {
    this.#context = context;
    this.#socket = socket;
    this.#ownAddresses = ownAddresses;
  }

  /** Returns the data of a known group, in the form that the client needs for sending. */
  metadata(id: string): GroupMetadata | undefined {
    return this.#groups.get(id);
  }

  /**
   * True if a person is known not to be a member of a group. `addresses` are theirs, without a device. False if the
   * group is not known, for example before the network first sent the groups. Also false if its members have other
   * kinds of address.
   */
  excludes(id: string, addresses: readonly string[]): boolean {
    const metadata = this.#groups.get(id);
    if (metadata === undefined) return false;
    const members = this.#members.get(metadata) ?? new GroupMembers(metadata);
    this.#members.set(metadata, members);
    return members.excludes(addresses);
  }

  /**
   * Returns the participants of a group. Requests the group if it is not known. Rejects if the network refuses or does
   * not reply.
   */
  async participants(id: string): Promise<string[]> {
    const metadata = this.#groups.get(id) ?? (await this.#socket.groupMetadata(id));
    this.#groups.set(id, metadata);
    return metadata.participants.map((participant) => participant.id);
  }

  /**
   * Requests all groups and reports them. It repeats the request until they are known. After a recent request, it
   * requests only the groups that had a notice since, and reports the known list. Rejects if the network refuses.
   */
  refresh(): Promise<void> {
    this.#asking ??= this.#refresh().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /**
   * Requests one group when it is due, and then reports all known groups. If it is due only after more than a moment,
   * the known groups are reported without a request. Never rejects: without a reply the group stays unchanged.
   */
  request(id: string): Promise<void> {
    const inFlight = this.#requests.get(id);
    if (inFlight !== undefined) return inFlight;
    const floorMs = Math.min(REQUEST_FLOOR_MS, this.#context.timing.groupsFloorMs);
    const nowMs = this.#context.clock.monotonicMs();
    const dueMs = this.#nextRequestMs(id, nowMs, floorMs);
    if (dueMs - nowMs > floorMs) {
      this.#reportAll();
      return Promise.resolve();
    }
    this.#requestedAtMs.set(id, dueMs);
    const answer = this.#afterMs(dueMs - nowMs, () => this.#renew(id)).finally(() =>
      this.#requests.delete(id),
    );
    this.#requests.set(id, answer);
    return answer;
  }

  /**
   * Returns the time of the next allowed request for a group. It is a while after the last one for it, and after all
   * but a few requests for others.
   */
  #nextRequestMs(id: string, nowMs: number, floorMs: number): number {
    for (const [requestedId, atMs] of this.#requestedAtMs) {
      if (atMs + floorMs <= nowMs) this.#requestedAtMs.delete(requestedId);
    }
    const ownMs = this.#requestedAtMs.get(id);
    const fewAgoMs = [...this.#requestedAtMs.values()]
      .toSorted((left, right) => left - right)
      .at(-MOST_REQUESTS);
    return Math.max(nowMs, ...[ownMs, fewAgoMs].map((atMs) => (atMs === undefined ? nowMs : atMs + floorMs)));
  }

  #afterMs(delayMs: number, act: () => Promise<void>): Promise<void> {
    if (delayMs === 0) return act();
    return new Promise((resolve) => this.#context.later(delayMs, () => void act().then(resolve)));
  }

  async #refresh(): Promise<void> {
    const startedMs = this.#context.clock.monotonicMs();
    if (startedMs - this.#askedAtMs < this.#context.timing.groupsFloorMs) {
      const staleIds = [...this.#stale];
      this.#stale.clear();
      await Promise.all(staleIds.map((id) => this.#ask(id)));
      this.#reportAll();
      return;
    }
    this.#askedAtMs = startedMs;
    const { groupsFloorMs, queryMs } = this.#context.timing;
    // A timer that fires early would find that the last request is too recent.
    if (!this.#isKnown) this.#context.later(groupsFloorMs + TIMER_EARLY_MS, () => this.#askUntilKnown());
    const groupsFound = Object.values(await this.#socket.groupFetchAllParticipating());
    const tookMs = this.#context.clock.monotonicMs() - startedMs;
    // The client's own timer ends its wait with an empty list, which says nothing about the groups.
    if (groupsFound.length === 0 && tookMs + TIMER_EARLY_MS >= queryMs) {
      this.#askedAtMs = Number.NEGATIVE_INFINITY;
      return;
    }
    this.#groups.clear();
    for (const group of groupsFound) this.#groups.set(group.id, group);
    this.#isKnown = true;
    this.#reportAll();
  }

  #askUntilKnown(): void {
    // The reason for a missing answer was reported the first time.
    if (!this.#isKnown) this.refresh().catch(() => undefined);
  }

  /** Something about a group changed. */
  renewSoon(id: string): void {
    if (this.#stale.has(id)) return;
    this.#stale.add(id);
    this.#context.later(QUIET_MS, () => {
      if (this.#stale.delete(id)) void this.#renew(id);
    });
  }

  async #renew(id: string): Promise<void> {
    await this.#ask(id);
    this.#reportAll();
  }

  async #ask(id: string): Promise<void> {
    try {
      this.#groups.set(id, await this.#socket.groupMetadata(id));
    } catch (error) {
      const code = queryErrorCode(error);
      // The shop is no longer a member, or there is no such group. Any other error leaves the group unchanged.
      if (code === 401 || code === 403 || code === 404) this.#groups.delete(id);
    }
  }

  #reportAll(): void {
    if (!this.#isKnown) return;
    const ownAddresses = new Set(this.#ownAddresses());
    const groups = [...this.#groups.values()].map((group) => ({
      id: group.id,
      name: group.subject ?? '',
      participantCount: group.participants.length,
      isAdmin: group.participants.some(
        (participant) =>
          participant.admin != null &&
          [participant.id, participant.lid, participant.phoneNumber].some(
            (address) => address !== undefined && ownAddresses.has(personOf(address)),
          ),
      ),
      announce: group.announce === true,
    }));
    this.#context.emit({ type: 'session.groups', groups });
  }
}
