import type { Logger } from '../../../runtime/logger.ts';
import { readLuaScript } from '../../../runtime/lua-script.ts';
import type { RedisCommand, Store } from '../../../runtime/store.ts';
import { tenantAddress, tenantKeys } from '../../tenants/tenant-keys.ts';
import { inboundKey } from '../records/inbound-records.ts';
import { storedDays } from '../records/stray-messages.ts';

const { source: SCRIPT } = readLuaScript(new URL('./forget-people.lua', import.meta.url));

/** Fields that one step reads: about half a millisecond of Redis. */
const STEP_FIELDS = 500;

/** Days since the Unix epoch. */
interface Days {
  /** The oldest day that counts by the present retention. */
  readonly oldestDay: number;
  readonly today: number;
}

/** Removes forgotten people in the background. A later run does what a failed one left. */
export function peopleForgetter({
  store,
  log,
}: {
  readonly store: Pick<Store, 'read' | 'append'>;
  readonly log: Pick<Logger, 'warn'>;
}): (tenantId: string, days: Days) => void {
  return (tenantId, days) => {
    forgetPeople(store, tenantId, days).catch((error: unknown) =>
      log.warn({ tenantId, err: error }, 'ids of people are kept for longer'),
    );
  };
}

/**
 * Forgets the ids of people who have not written since `oldestDay`, once a day for a tenant, in short steps. If the
 * retention was longer before, it keeps those who wrote since the oldest day whose messages are still stored. It needs
 * no fence: a second run drops nothing that counts. Rejects as `Store.read` and `Store.append` do.
 */
export async function forgetPeople(
  store: Pick<Store, 'read' | 'append'>,
  tenantId: string,
  { oldestDay, today }: Days,
): Promise<void> {
  const { personIds } = tenantKeys(tenantId);
  // Several shops of the tenant may ask on one day. The search for days takes longer than this.
  const [sweptOn] = await store.read([['HGET', personIds, 'swept']]);
  if (sweptOn === `on ${today}`) return;
  const { shard } = tenantAddress(tenantId);
  const inboundDays = { store, newestDay: oldestDay, today };
  const days = await storedDays((day) => inboundKey(shard, day), inboundDays);
  const oldestKeptDay = days.at(-1) ?? oldestDay;
  let cursor = '0';
  do {
    const step: RedisCommand = ['EVAL', SCRIPT, 1, personIds, cursor, oldestKeptDay, today, STEP_FIELDS];
    cursor = String((await store.append([step]))[0]);
  } while (cursor !== '0');
}
