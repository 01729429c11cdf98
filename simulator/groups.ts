import type { Collection, Journal } from './journal.ts';
import type { Addressing } from './socket/addresses.ts';

/** A group as the network knows it. Numbers are digits. */
export interface Group {
  /** `…@g.us`. */
  readonly id: string;
  readonly name: string;
  readonly participants: readonly string[];
  /** The participants who administer it. */
  readonly admins: readonly string[];
  /** True if only its administrators may write. */
  readonly announce: boolean;
  /** Seconds after which messages disappear; 0: they stay. */
  readonly expiration: number;
  /** The kind of address by which its stanzas name the participants. */
  readonly addressing: Addressing;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** All groups, and the companions that have missed a change. */
export class Groups {
  readonly #groups: Collection<Group>;
  readonly #stale: Collection<true>;
  readonly #byPhone = new Map<string, Set<string>>();

  constructor(journal: Journal) {
    this.#groups = journal.collection<Group>('groups');
    this.#stale = journal.collection<true>('stale-groups');
    for (const [, group] of this.#groups.entries()) this.#index(group);
  }

  get(id: string): Group | undefined {
    return this.#groups.get(id);
  }

  put(group: Group): void {
    for (const phone of this.#groups.get(group.id)?.participants ?? [])
      this.#byPhone.get(phone)?.delete(group.id);
    this.#groups.set(group.id, group);
    this.#index(group);
  }

  /** Returns the groups that a number takes part in. */
  groupsOf(phone: string): Group[] {
    return [...(this.#byPhone.get(phone) ?? [])].flatMap((id) => this.#groups.get(id) ?? []);
  }

  /** Marks a companion that was offline when a group changed. It is notified at its next login. */
  markStale(companionId: string): void {
    this.#stale.set(companionId, true);
  }

  /** True if a companion has to refresh its groups. The call clears the mark. */
  takeStale(companionId: string): boolean {
    const staleGroups = this.#stale.get(companionId) ?? false;
    this.#stale.delete(companionId);
    return staleGroups;
  }

  #index(group: Group): void {
    for (const phone of group.participants) {
      const ids = this.#byPhone.get(phone) ?? new Set<string>();
      this.#byPhone.set(phone, ids.add(group.id));
    }
  }
}
