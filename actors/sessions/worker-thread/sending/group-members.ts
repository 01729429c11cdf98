import type { GroupMetadata, SignalKeyStore } from '@whiskeysockets/baileys';
import { isLidAddress, isNumberAddress } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The members of a group by their addresses: the number, the network's own id, or both, as the network sends them. */
export class GroupMembers {
  readonly #addresses = new Set<string>();
  #isByNumber: boolean;
  #isById: boolean;

  constructor({ participants }: Pick<GroupMetadata, 'participants'>) {
    // An empty list means nothing, since the shop itself would be in it.
    this.#isByNumber = participants.length > 0;
    this.#isById = participants.length > 0;
    for (const { id, lid, phoneNumber } of participants) {
      const addresses = [id, lid, phoneNumber].flatMap((address) =>
        address === undefined ? [] : [personOf(address)],
      );
      for (const address of addresses) this.#addresses.add(address);
      this.#isByNumber &&= addresses.some(isNumberAddress);
      this.#isById &&= addresses.some(isLidAddress);
    }
  }

  /**
   * True if a person with these addresses is certainly not a member. The addresses, without a device, can be compared
   * with those of all members, and none is equal.
   */
  excludes(addresses: readonly string[]): boolean {
    if (addresses.some((address) => this.#addresses.has(address))) return false;
    return addresses.some((address) => (isLidAddress(address) ? this.#isById : this.#isByNumber));
  }
}

/**
 * Lets the next post bring a group's key to its members again. The client counts members as having the key once a post
 * is on the wire. But a refused post delivered it to no one. Call it after the client's send, which stores the holders
 * as its last step. Never rejects: a store that fails ends the session by itself.
 */
export async function forgetKeyHolders(keys: Pick<SignalKeyStore, 'set'>, group: string): Promise<void> {
  await Promise.resolve(keys.set({ 'sender-key-memory': { [group]: null } })).catch(() => undefined);
}
