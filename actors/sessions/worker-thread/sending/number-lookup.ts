import {
  extractDeviceJids,
  type LIDMapping,
  USyncQuery,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import { DAY_MS } from '../../../../runtime/durations.ts';
import type { ShopMemory } from '../shared/session-environment.ts';
import { isLidAddress, userOf } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** How long the list of the shop's own devices is kept. The network reports its changes (`followOwnDevices`). */
const OWN_DEVICES_MS = DAY_MS;

/** The memory of look-ups: the devices of people, and the numbers without an id. */
type LookUpMemory = Pick<ShopMemory, 'devices' | 'lidless'>;

/**
 * Answers the client's question for the ids of numbers like `lookUpNumbers`. The client remembers no number without an
 * id, and asks up to three times for each message of such a sender. So these are not asked about again for an hour.
 */
export async function lookUpIds(
  socket: WASocket,
  memory: LookUpMemory,
  addresses: readonly string[],
): Promise<LIDMapping[] | undefined> {
  const askedAddresses = addresses.filter((address) => memory.lidless.get(address) === undefined);
  return askedAddresses.length === 0 ? [] : lookUpNumbers(socket, memory, askedAddresses);
}

/**
 * Looks up the network's own ids (LID) of numbers. Like the client, it keeps the devices of these people in `devices`
 * under both. It is the client's query for devices. The client's query for ids alone would be a second one for a new
 * recipient.
 *
 * Resolves with undefined if no answer comes in time. An answer about a number that was not asked for, or that makes no
 * id, counts as no answer. The client would fail the send. A row without an id says that there is none. A missing row
 * does not, nor does an error about the id, which is an empty one here (`spellOutErrors`).
 */
export async function lookUpNumbers(
  socket: WASocket,
  { devices, lidless }: LookUpMemory,
  addresses: readonly string[],
): Promise<LIDMapping[] | undefined> {
  const query = new USyncQuery().withContext('message').withDeviceProtocol().withLIDProtocol();
  for (const address of addresses) query.withUser(new USyncUser().withId(address));
  const answer = await socket.executeUSyncQuery(query);
  if (answer === undefined) return undefined;
  const { id = '', lid = '' } = socket.user ?? {};
  const mappings: LIDMapping[] = [];
  for (const row of answer.list) {
    if (addresses.includes(row.id) && row.lid == null) lidless.set(row.id, true);
    if (typeof row.lid !== 'string' || !isLidAddress(row.lid) || !addresses.includes(row.id)) continue;
    mappings.push({ pn: row.id, lid: row.lid });
    for (const address of [row.lid, row.id]) {
      const knownDevices = extractDeviceJids([{ ...row, id: address }], id, lid, false);
      if (knownDevices.length > 0)
        keepDevices(devices, { own: [id, lid], user: userOf(address), known: knownDevices });
    }
  }
  return mappings;
}

/**
 * Keeps a list of devices. The shop's own list is kept longer. Each message goes to those devices too, so the client
 * would ask for it as often as for others' lists. No other client does that.
 */
export function keepDevices(
  devices: ShopMemory['devices'],
  options: {
    /** The shop's own addresses. */
    readonly own: readonly string[];
    readonly user: string;
    readonly known: unknown;
  },
): void {
  const { own, user, known } = options;
  const isOwn = own.some((address) => userOf(address) === user);
  devices.set(user, known, isOwn ? OWN_DEVICES_MS : undefined);
}

/**
 * Asks again for the LID of a number after the network reported the old one as no longer valid (WhiskeySockets/Baileys,
 * issue 2662). An account that continues with the old one can be suspended. Resolves with the new LID, which is used
 * from now on, or undefined if the network names no other.
 */
export async function renewLid({
  socket,
  memory,
  number,
  former,
}: {
  readonly socket: WASocket;
  readonly memory: LookUpMemory;
  readonly number: string;
  readonly former: string;
}): Promise<string | undefined> {
  for (const address of [number, former]) memory.devices.del(userOf(address));
  const mappings = await lookUpNumbers(socket, memory, [number]);
  const lid = mappings?.find(({ pn }) => pn === number)?.lid;
  if (lid === undefined || personOf(lid) === former) return undefined;
  await socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: number }]);
  return personOf(lid);
}
