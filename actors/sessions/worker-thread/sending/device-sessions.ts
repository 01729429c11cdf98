import {
  type BinaryNode,
  type CacheStore,
  type Contact,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidEncode,
  parseAndInjectE2ESessions,
  transferDevice,
  type WASocket,
} from '@whiskeysockets/baileys';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { Yielder } from '../../../../runtime/yielder.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { ExpiringCache } from '../shared/expiring-cache.ts';
import type { SessionContext } from '../shared/session-context.ts';
import { queryErrorCode } from '../shared/session-end.ts';
import type { ShopMemory } from '../shared/session-environment.ts';
import { isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';
import { keepDevices, lookUpNumbers } from './number-lookup.ts';

/** How long a device that has no keys on the network is left out, in milliseconds. */
const KEYLESS_MS = HOUR_MS;

/** The network refused a whole request for keys because of one of the devices (oxidezap/whatsapp-rust, issue 1143). */
const REFUSED = new Set([404, 406]);

/**
 * Requests for the keys of one message. Two such devices among a thousand take about forty; more would be too many for
 * the network.
 */
const MOST_QUESTIONS = 50;

/** True if a device is known to have no keys on the network. `address` includes the device. */
export function isKeyless(keylessAddresses: ExpiringCache, address: string): boolean {
  return keylessAddresses.get<boolean>(address) === true;
}

/** A device as the client remembers it. */
export interface KnownDevice {
  readonly user: string;
  readonly server: Parameters<typeof jidEncode>[1];
  readonly device?: number;
}

/**
 * Returns the devices of people that the client should see: without the shop's own, and without devices that have no
 * keys. The client fails a whole post if it can seal the group's key for none of the new devices. It counts the others
 * as having it.
 */
export function devicesWithKeys(
  { devices, keyless }: Pick<ShopMemory, 'devices' | 'keyless'>,
  readOwnContact: () => Contact | undefined,
): CacheStore {
  return {
    get<Value>(user: string): Value | undefined {
      const ownAddresses = ownDevice(readOwnContact());
      const knownDevices = devices.get<readonly KnownDevice[]>(user);
      const withKeys = knownDevices?.filter(({ server, device }) => {
        const address = jidEncode(user, server, device);
        return !isKeyless(keyless, address) && !ownAddresses.includes(address);
      });
      return withKeys as Value | undefined;
    },
    set: (user, knownDevices) =>
      keepDevices(devices, { own: ownDevice(readOwnContact()), user, known: knownDevices }),
    del: (user) => devices.del(user),
    flushAll: () => devices.flushAll(),
  };
}

/**
 * Returns the addresses of the shop's own linked device: by its number, and by its LID. The network may name the LID
 * without the device.
 */
export function ownDevice(ownContact: Contact | undefined): readonly string[] {
  if (ownContact === undefined) return [];
  const { id, lid } = ownContact;
  return lid == null || lid === '' ? [id] : [id, transferDevice(id, lid)];
}

/**
 * Opens the Signal sessions of one shop with other people's devices, before a message is sealed. A device without keys,
 * for example one that was unlinked, does not get the message, and the others do. The client's own request fails as a
 * whole for it (WhiskeySockets/Baileys, issue 2521).
 */
export class DeviceSessions {
  readonly #context: SessionContext;
  readonly #socket: WASocket;
  readonly #memory: ShopMemory;

  constructor(context: SessionContext, socket: WASocket) {
    this.#context = context;
    this.#socket = socket;
    this.#memory = context.memory;
  }

  /**
   * Prepares for a message to these people and to the shop's own devices: requests their devices and opens the missing
   * sessions. Resolves with true if anyone can be reached. If there are other people, only they count. Rejects like
   * `open`.
   */
  async reach(addresses: readonly string[]): Promise<boolean> {
    const socket = this.#socket;
    const { id = '', lid } = socket.user ?? {};
    const ownPerson = lid !== undefined && addresses.some(isLidAddress) ? personOf(lid) : personOf(id);
    await this.#knowOwnDevices(ownPerson);
    await this.#knowNumbers([...addresses, ownPerson].filter(isNumberAddress));
    const devicesFound = await socket.getUSyncDevices([...new Set([...addresses, ownPerson])], true, false);
    const openAddresses = await this.open(devicesFound.map(({ jid }) => jid));
    const isOther = (address: string): boolean =>
      ![personOf(id), personOf(lid ?? '')].includes(personOf(address));
    return addresses.some(isOther)
      ? openAddresses.some(isOther)
      : addresses.length > 0 && openAddresses.length > 0;
  }

  /**
   * Requests the shop's own devices by its number. A reply to a request by LID may lack them (oxidezap/whatsapp-rust,
   * pull 568).
   */
  async #knowOwnDevices(ownPerson: string): Promise<void> {
    const socket = this.#socket;
    const number = personOf(socket.user?.id ?? '');
    if (!isLidAddress(ownPerson) || this.#memory.devices.get(userOf(ownPerson)) !== undefined) return;
    await lookUpNumbers(socket, this.#memory, [number]);
  }

  /**
   * Requests the devices of numbers. The client's own request (`getUSyncDevices`) does more if the reply names LIDs. It
   * fetches new keys of all these people, and each fetch takes one of their one-time keys.
   */
  async #knowNumbers(numbers: readonly string[]): Promise<void> {
    const socket = this.#socket;
    const unknownNumbers = [...new Set(numbers)].filter(
      (number) => this.#memory.devices.get(userOf(number)) === undefined,
    );
    if (unknownNumbers.length === 0) return;
    const mappingsFound = await lookUpNumbers(socket, this.#memory, unknownNumbers);
    if (mappingsFound !== undefined && mappingsFound.length > 0)
      await socket.signalRepository.lidMapping.storeLIDPNMappings(mappingsFound);
  }

  /**
   * Opens the missing sessions, or all of them again if `isFresh`. Resolves with the devices that can be sealed for.
   * Rejects if the network does not reply, or refuses the request, for example with a rate signal.
   */
  async open(addresses: readonly string[], isFresh = false): Promise<readonly string[]> {
    const { signalRepository, user } = this.#socket;
    const ownAddresses = ownDevice(user);
    const otherAddresses = [...new Set(addresses)].filter((address) => !ownAddresses.includes(address));
    const askedAddresses: string[] = [];
    for (const address of otherAddresses) {
      if (isFresh) this.#memory.keyless.del(address);
      else if (isKeyless(this.#memory.keyless, address)) continue;
      else if ((await signalRepository.validateSession(address)).exists) continue;
      askedAddresses.push(address);
    }
    if (askedAddresses.length > 0) await this.#fetch(askedAddresses);
    return otherAddresses.filter((address) => !isKeyless(this.#memory.keyless, address));
  }

  async #fetch(addresses: readonly string[]): Promise<void> {
    const { signalRepository } = this.#socket;
    const numbers = addresses.filter(isNumberAddress);
    const pairs = numbers.length === 0 ? [] : await signalRepository.lidMapping.getLIDsForPNs(numbers);
    const lids = new Map(pairs?.map(({ pn, lid }) => [pn, lid]));
    const onWire = new Map(addresses.map((address) => [lids.get(address) ?? address, address]));
    const rows = await this.#ask([...onWire.keys()], { left: MOST_QUESTIONS });
    // A session takes two milliseconds of the thread, and a status may open hundreds.
    const yielder = new Yielder();
    for (const [wire, address] of onWire) {
      if (yielder.isOver(true)) await yielder.next();
      const row = rows.get(wire);
      const isOpen = row !== undefined && (await this.#inject(row));
      if (!isOpen) for (const name of [wire, address]) this.#memory.keyless.set(name, true, KEYLESS_MS);
    }
  }

  /** Returns the keys of each device by its address, without devices that have none. Rejects if no request is left. */
  async #ask(addresses: readonly string[], questions: { left: number }): Promise<Map<string, BinaryNode>> {
    questions.left -= 1;
    try {
      const answer = await this.#socket.query(question(addresses));
      if (answer === undefined) throw new NoAnswer('the network sent no keys in time');
      const rows = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'user');
      return new Map(
        rows.flatMap((row) => {
          const { jid } = row.attrs;
          return jid === undefined || getBinaryNodeChild(row, 'error') !== undefined ? [] : [[jid, row]];
        }),
      );
    } catch (error) {
      if (!REFUSED.has(queryErrorCode(error) ?? 0) || questions.left <= 0) throw error;
      if (addresses.length === 1) return new Map();
      const half = Math.ceil(addresses.length / 2);
      const first = await this.#ask(addresses.slice(0, half), questions);
      return new Map([...first, ...(await this.#ask(addresses.slice(half), questions))]);
    }
  }

  /** Returns false if the client does not take the keys: only their own device then misses the message. */
  async #inject(row: BinaryNode): Promise<boolean> {
    try {
      const list = { tag: 'list', attrs: {}, content: [row] };
      await parseAndInjectE2ESessions(
        { tag: 'iq', attrs: {}, content: [list] },
        this.#socket.signalRepository,
      );
      return true;
    } catch (error) {
      this.#context.logFailure('the keys of a device were not taken; it is left out')(error);
      return false;
    }
  }
}

function question(addresses: readonly string[]): BinaryNode {
  const users = addresses.map((jid) => ({ tag: 'user', attrs: { jid } }));
  return {
    tag: 'iq',
    attrs: { xmlns: 'encrypt', type: 'get', to: 's.whatsapp.net' },
    content: [{ tag: 'key', attrs: {}, content: users }],
  };
}
