import {
  extractDeviceJids,
  jidDecode,
  type LIDMapping,
  USyncQuery,
  USyncUser,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { ExpiringCache } from './expiring-cache.ts';

/**
 * The network's own ids (LID) of numbers, and under them the devices of these people, kept in `devices` as the client
 * keeps them. It is the question by which the client asks for devices; for ids alone it has another, so that
 * somebody who is written to for the first time would be asked about twice. Undefined: no answer in time.
 */
export async function lookUpNumbers(
  socket: WASocket,
  devices: ExpiringCache,
  addresses: readonly string[],
): Promise<LIDMapping[] | undefined> {
  const query = new USyncQuery().withContext('message').withDeviceProtocol().withLIDProtocol();
  for (const address of addresses) query.withUser(new USyncUser().withId(address));
  const answer = await socket.executeUSyncQuery(query);
  if (answer === undefined) return undefined;
  const { id = '', lid = '' } = socket.user ?? {};
  const found: LIDMapping[] = [];
  for (const row of answer.list) {
    if (typeof row.lid !== 'string' || row.lid === '') continue;
    found.push({ pn: row.id, lid: row.lid });
    const known = extractDeviceJids([{ ...row, id: row.lid }], id, lid, false);
    const user = jidDecode(row.lid)?.user;
    if (user !== undefined && known.length > 0) devices.set(user, known);
  }
  return found;
}
