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
export function isKeyless(keyless: ExpiringCache, address: string): boolean {
  return keyless.get<boolean>(address) === true;
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
  me: () => Contact | undefined,
): CacheStore {
  return {
    get<Value>(user: string): Value | undefined {
      const own = ownDevice(me());
      const known = devices.get<readonly KnownDevice[]>(user);
      const withKeys = known?.filter(({ server, device }) => {
        const address = jidEncode(user, server, device);
        return !isKeyless(keyless, address) && !own.includes(address);
      });
      return withKeys as Value | undefined;
    },
    set: (user, known) => keepDevices(devices, { own: ownDevice(me()), user, known }),
    del: (user) => devices.del(user),
    flushAll: () => devices.flushAll(),
  };
}

/**
 * Returns the addresses of the shop's own linked device: by its number, and by its LID. The network may name the LID
 * without the device.
 */
export function ownDevice(me: Contact | undefined): readonly string[] {
  if (me === undefined) return [];
  const { id, lid } = me;
  return lid == null || lid === '' ? [id] : [id, transferDevice(id, lid)];
}

/**
 * Opens the Signal sessions of one shop with other people's devices, before a message is sealed. A device without keys,
 * for example one that was unlinked, does not get the message, and the others do. The client's own request fails as a
 * whole for it (WhiskeySockets/Baileys, issue 2521).
 */
export class DeviceSessions {
  readonly #socket: WASocket;
  readonly #memory: Pick<ShopMemory, 'devices' | 'keyless' | 'lidless'>;

  constructor(socket: WASocket, memory: Pick<ShopMemory, 'devices' | 'keyless' | 'lidless'>) {
    this.#socket = socket;
    this.#memory = memory;
  }

  /**
   * Prepares for a message to these people and to the shop's own devices: requests their devices and opens the missing
   * sessions. Resolves with true if anyone can be reached. If there are other people, only they count. Rejects like
   * `open`.
   */
  async reach(addresses: readonly string[]): Promise<boolean> {
    const socket = this.#socket;
    const { id = '', lid } = socket.user ?? {};
    const own = lid !== undefined && addresses.some(isLidAddress) ? personOf(lid) : personOf(id);
    await this.#knowOwnDevices(own);
    await this.#knowNumbers([...addresses, own].filter(isNumberAddress));
    const found = await socket.getUSyncDevices([...new Set([...addresses, own])], true, false);
    const open = await this.open(found.map(({ jid }) => jid));
    const isOther = (address: string): boolean =>
      ![personOf(id), personOf(lid ?? '')].includes(personOf(address));
    return addresses.some(isOther) ? open.some(isOther) : addresses.length > 0 && open.length > 0;
  }

  /**
   * Requests the shop's own devices by its number. A reply to a request by LID may lack them (oxidezap/whatsapp-rust,
   * pull 568).
   */
  async #knowOwnDevices(own: string): Promise<void> {
    const socket = this.#socket;
    const number = personOf(socket.user?.id ?? '');
    if (!isLidAddress(own) || this.#memory.devices.get(userOf(own)) !== undefined) return;
    await lookUpNumbers(socket, this.#memory, [number]);
  }

  /**
   * Requests the devices of numbers. The client's own request (`getUSyncDevices`) does more if the reply names LIDs. It
   * fetches new keys of all these people, and each fetch takes one of their one-time keys.
   */
  async #knowNumbers(numbers: readonly string[]): Promise<void> {
    const socket = this.#socket;
    const unknown = [...new Set(numbers)].filter(
      (number) => this.#memory.devices.get(userOf(number)) === undefined,
    );
    if (unknown.length === 0) return;
    const found = await lookUpNumbers(socket, this.#memory, unknown);
    if (found !== undefined && found.length > 0)
      await socket.signalRepository.lidMapping.storeLIDPNMappings(found);
  }

  /**
   * Opens the missing sessions, or all of them again if `fresh`. Resolves with the devices that can be sealed for.
   * Rejects if the network does not reply, or refuses the request, for example with a rate signal.
   */
  async open(addresses: readonly string[], fresh = false): Promise<readonly string[]> {
    const { signalRepository, user } = this.#socket;
    const own = ownDevice(user);
    const others = [...new Set(addresses)].filter((address) => !own.includes(address));
    const asked: string[] = [];
    for (const address of others) {
      if (fresh) this.#memory.keyless.del(address);
      else if (isKeyless(this.#memory.keyless, address)) continue;
      else if ((await signalRepository.validateSession(address)).exists) continue;
      asked.push(address);
    }
    if (asked.length > 0) await this.#fetch(asked);
    return others.filter((address) => !isKeyless(this.#memory.keyless, address));
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

  /** Returns false if the keys are invalid: only their own device then misses the message. */
  async #inject(row: BinaryNode): Promise<boolean> {
    try {
      const list = { tag: 'list', attrs: {}, content: [row] };
      await parseAndInjectE2ESessions(
        { tag: 'iq', attrs: {}, content: [list] },
        this.#socket.signalRepository,
      );
      return true;
    } catch {
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
