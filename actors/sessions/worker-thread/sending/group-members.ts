import type { GroupMetadata } from '@whiskeysockets/baileys';
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
