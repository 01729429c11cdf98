import type { GroupMetadata, SignalKeyStore } from '@whiskeysockets/baileys';
import { isLidAddress, isNumberAddress } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The members of a group by their addresses: the number, the network's own id, or both, as the network tells them. */
export class GroupMembers {
  readonly #addresses = new Set<string>();
  #isByNumber: boolean;
  #isById: boolean;

  constructor({ participants }: Pick<GroupMetadata, 'participants'>) {
    // A list of nobody tells nothing: the shop itself would stand in it.
    this.#isByNumber = participants.length > 0;
    this.#isById = participants.length > 0;
    for (const { id, lid, phoneNumber } of participants) {
      const addresses = [id, lid, phoneNumber].flatMap((each) =>
        each === undefined ? [] : [personOf(each)],
      );
      for (const address of addresses) this.#addresses.add(address);
      this.#isByNumber &&= addresses.some(isNumberAddress);
      this.#isById &&= addresses.some(isLidAddress);
    }
  }

  /**
   * Whether somebody with these addresses, which name no device, is certainly no member: they are comparable with those of
   * all members, and equal none.
   */
  excludes(addresses: readonly string[]): boolean {
    if (addresses.some((address) => this.#addresses.has(address))) return false;
    return addresses.some((address) => (isLidAddress(address) ? this.#isById : this.#isByNumber));
  }
}

/**
 * The client counts a group's members as having its key once a post is on the wire; one that was not taken brought it to
 * nobody. Lets the next post bring it again. To be
 * called after the client's send, which stores whom it counts as its last step. Never rejects: a store that fails ends the session by itself.
 */
export async function forgetKeyHolders(keys: Pick<SignalKeyStore, 'set'>, group: string): Promise<void> {
  await Promise.resolve(keys.set({ 'sender-key-memory': { [group]: null } })).catch(() => undefined);
}
