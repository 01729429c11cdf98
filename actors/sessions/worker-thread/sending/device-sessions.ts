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
import { isRateSignal, queryErrorCode } from '../shared/session-end.ts';
import type { ShopMemory } from '../shared/session-environment.ts';
import { isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';
import { keepDevices, lookUpNumbers } from './number-lookup.ts';

/** How long a device without keys is left out, in milliseconds. */
const KEYLESS_MS = HOUR_MS;

/**
 * The error codes of a device that has no keys on the network. A whole request may be refused because of one such
 * device (oxidezap/whatsapp-rust, issue 1143).
 */
const REFUSED = new Set([404, 406]);

/** A device is left out: it has no keys on the network. */
const NO_KEYS = 'no keys';
/** A device is left out of this message: the network did not give its keys. The next message asks for them again. */
const NOT_NOW = 'not now';

/**
 * Requests for the keys of one message. Two such devices among a thousand take about forty; more would be too many for
 * the network.
 */
const MOST_QUESTIONS = 50;

/** True if a device is left out, because its keys are not known. `address` includes the device. */
export function isKeyless(keylessAddresses: ExpiringCache, address: string): boolean {
  return keylessAddresses.get(address) !== undefined;
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
   * `open`. A failure about devices that an earlier message left out is only logged if anyone else can be reached,
   * unless it is a rate signal.
   */
  async reach(addresses: readonly string[]): Promise<boolean> {
    const socket = this.#socket;
    const { id = '', lid } = socket.user ?? {};
    const ownPerson = lid !== undefined && addresses.some(isLidAddress) ? personOf(lid) : personOf(id);
    await this.#knowOwnDevices(ownPerson);
    await this.#knowNumbers([...addresses, ownPerson].filter(isNumberAddress));
    const people = [...new Set([...addresses, ownPerson])];
    const devicesFound = await socket.getUSyncDevices(people, true, false);
    const foundAddresses = [
      ...devicesFound.map(({ jid }) => jid),
      ...people.flatMap((person) => this.#leftOutBefore(person)),
    ];
    const retriedAddresses = foundAddresses.filter((address) => this.#isLeftOut(address));
    const openAddresses = await this.open(foundAddresses.filter((address) => !this.#isLeftOut(address)));
    const isOther = (address: string): boolean =>
      ![personOf(id), personOf(lid ?? '')].includes(personOf(address));
    const counts = addresses.some(isOther) ? isOther : () => addresses.length > 0;
    const isReached = openAddresses.some(counts);
    const retriedOpen = await this.#retry(retriedAddresses, isReached);
    return isReached || retriedOpen.some(counts);
  }

  /**
   * Asks again for the keys of devices that an earlier message left out. Resolves with those that are open now. If
   * `isReached`, someone gets the message without them, so a failure leaves them out once more. A rate signal rejects,
   * since it must pause the queue.
   */
  async #retry(addresses: readonly string[], isReached: boolean): Promise<readonly string[]> {
    try {
      return await this.open(addresses);
    } catch (error) {
      if (isRateSignal(error) || !isReached) throw error;
      this.#context.logFailure('the keys of left-out devices were not given; the others get the message')(
        error,
      );
      return [];
    }
  }

  /** True if an earlier message left the device out, and the next one asks for its keys again. */
  #isLeftOut(address: string): boolean {
    return this.#memory.keyless.get(address) === NOT_NOW;
  }

  /** Returns the devices that an earlier message left out. The client does not see them. */
  #leftOutBefore(person: string): string[] {
    const user = userOf(person);
    const knownDevices = this.#memory.devices.get<readonly KnownDevice[]>(user) ?? [];
    return knownDevices
      .map(({ server, device }) => jidEncode(user, server, device))
      .filter((address) => this.#isLeftOut(address));
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
    const { keyless } = this.#memory;
    const ownAddresses = ownDevice(user);
    const otherAddresses = [...new Set(addresses)].filter((address) => !ownAddresses.includes(address));
    const askedAddresses: string[] = [];
    for (const address of otherAddresses) {
      const lack = keyless.get(address);
      if (isFresh) keyless.del(address);
      else if (lack === NO_KEYS) continue;
      else if (lack === undefined && (await signalRepository.validateSession(address)).exists) continue;
      askedAddresses.push(address);
    }
    if (askedAddresses.length > 0) await this.#fetch(askedAddresses, isFresh);
    return otherAddresses.filter((address) => !isKeyless(keyless, address));
  }

  async #fetch(addresses: readonly string[], isFresh: boolean): Promise<void> {
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
      const row = rows.get(wire) ?? NOT_NOW;
      // Keys that the client does not take would cost the device a one-time key each time.
      const lack = typeof row === 'string' ? row : (await this.#inject(row)) ? undefined : NO_KEYS;
      if (lack !== undefined && !isFresh && (await this.#isOpenByNow(address))) continue;
      for (const name of [wire, address]) {
        if (lack === undefined) this.#memory.keyless.del(name);
        else this.#memory.keyless.set(name, lack, KEYLESS_MS);
      }
    }
  }

  /**
   * True if a device has a session since its keys were asked for: its message was read meanwhile, or it sent its keys.
   * If it is left out still, its session is an old one.
   */
  async #isOpenByNow(address: string): Promise<boolean> {
    if (isKeyless(this.#memory.keyless, address)) return false;
    return (await this.#socket.signalRepository.getSessionInfo(address)) !== null;
  }

  /**
   * Returns the keys of each device by its address, or that it has none. A device whose keys are not given for another
   * reason is missing. Rejects if no request is left.
   */
  async #ask(addresses: readonly string[], questions: { left: number }): Promise<Map<string, KeysRow>> {
    questions.left -= 1;
    try {
      const answer = await this.#socket.query(question(addresses));
      if (answer === undefined) throw new NoAnswer('the network sent no keys in time');
      const rows = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'user');
      return new Map(rows.flatMap(answered));
    } catch (error) {
      if (!REFUSED.has(queryErrorCode(error) ?? 0) || questions.left <= 0) throw error;
      if (addresses.length === 1) return new Map(addresses.map((address) => [address, NO_KEYS]));
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

/** The keys of a device, or that it has none. */
type KeysRow = BinaryNode | typeof NO_KEYS;

function answered(row: BinaryNode): [string, KeysRow][] {
  const { jid } = row.attrs;
  if (jid === undefined) return [];
  const error = getBinaryNodeChild(row, 'error');
  if (error === undefined) return [[jid, row]];
  return REFUSED.has(Number(error.attrs.code)) ? [[jid, NO_KEYS]] : [];
}

function question(addresses: readonly string[]): BinaryNode {
  const users = addresses.map((jid) => ({ tag: 'user', attrs: { jid } }));
  return {
    tag: 'iq',
    attrs: { xmlns: 'encrypt', type: 'get', to: 's.whatsapp.net' },
    content: [{ tag: 'key', attrs: {}, content: users }],
  };
}
