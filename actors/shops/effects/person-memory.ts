import type { Logger } from '../../../runtime/logger.ts';
import { readLuaScript } from '../../../runtime/lua-script.ts';
import type { RedisCommand, Store } from '../../../runtime/store.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';

const { source: SCRIPT } = readLuaScript(new URL('./forget-people.lua', import.meta.url));

/** Fields that one step reads: about half a millisecond of Redis. */
const STEP_FIELDS = 500;

/** The days that still count; days since the Unix epoch. */
interface Days {
  readonly oldestDay: number;
  readonly today: number;
}

/** Removes forgotten people in the background. If it fails, it starts again the next day. */
export function peopleForgetter({
  store,
  log,
}: {
  readonly store: Pick<Store, 'append'>;
  readonly log: Pick<Logger, 'warn'>;
}): (tenantId: string, days: Days) => void {
  return (tenantId, days) => {
    forgetPeople(store, tenantId, days).catch((error: unknown) =>
      log.warn({ tenantId, err: error }, 'ids of people are kept for a day longer'),
    );
  };
}

/**
 * Forgets the ids of people who have not written since `oldestDay`, once a day for a tenant, in short steps. It needs
 * no fence: a second run drops nothing that counts. Rejects as `Store.append` does.
 */
export async function forgetPeople(
  store: Pick<Store, 'append'>,
  tenantId: string,
  { oldestDay, today }: Days,
): Promise<void> {
  const { personIds } = tenantKeys(tenantId);
  let cursor = '0';
  do {
    const step: RedisCommand = ['EVAL', SCRIPT, 1, personIds, cursor, oldestDay, today, STEP_FIELDS];
    cursor = String((await store.append([step]))[0]);
  } while (cursor !== '0');
}
