/** Schemas of shops' actors for operators. Times that end in `Ms` are milliseconds since the Unix epoch. */
import * as v from 'valibot';
import { count } from '../../../actors/reply-schemas/reply-fields.ts';
import { channelStatus } from '../../../actors/reply-schemas/shop-schemas.ts';
import type { ShopActorView, ShopInspection } from '../../../actors/shops/inspection/shop-inspection.ts';
import { epochMs, type SchemasOf, shopDetails, whichShop } from './shop-details.ts';

type Policy = NonNullable<ShopInspection['policy']>;

/** A shop's actor. Name, state and details are null while it is not in memory. */
export const shopActor = v.strictObject({
  ...whichShop,
  name: v.nullable(v.string()),
  state: v.nullable(channelStatus),
  status: v.picklist(['active', 'backoff', 'suspended']),
  shard: count,
  owner: v.strictObject({ nodeId: v.string(), epoch: count }),
  mailbox: v.strictObject({ depth: count, bytes: count, oldestQueuedMs: v.number() }),
  timers: v.array(v.strictObject({ id: v.string(), dueAtMs: epochMs })),
  restarts: count,
  lastError: v.optional(v.strictObject({ atMs: epochMs, message: v.string() })),
  details: v.nullable(shopDetails),
} satisfies SchemasOf<ShopActorView>);

const policyWindow = v.strictObject({
  window: v.picklist(['perDay', 'perHour', 'coldPerDay', 'declaredPerDay', 'groupsPerDay', 'statusesPerDay']),
  used: count,
  cap: count,
  nextReliefMs: v.nullable(epochMs),
} satisfies SchemasOf<Policy['windows'][number]>);

/** A shop of the list, with the further fields of its own page. */
export const shopInspection = v.strictObject({
  ...shopActor.entries,
  policy: v.pipe(
    v.nullable(v.strictObject({ warmupDay: count, windows: v.array(policyWindow) })),
    v.description('Null: its stored data cannot be read.'),
  ),
  workers: v.picklist(['available', 'lost']),
  session: v.pipe(
    v.nullable(v.record(v.string(), v.unknown())),
    v.description('Details of the session, as the chat client reports them. Null if there is no session.'),
  ),
} satisfies SchemasOf<ShopInspection>);

export const shopActorExample = {
  tenantId: '66b1f0a2c3d4e5f607182906',
  shopId: '66b1f0a2c3d4e5f607182901',
  name: 'Bakery Rue Haute',
  state: 'connected',
  status: 'active',
  shard: 17,
  owner: { nodeId: 'node-1', epoch: 3 },
  mailbox: { depth: 0, bytes: 0, oldestQueuedMs: 0 },
  timers: [],
  restarts: 0,
  details: null,
};

/** The example of the list, with the further fields of the shop's own page. */
export const shopInspectionExample = {
  ...shopActorExample,
  policy: {
    warmupDay: 9,
    windows: [{ window: 'perDay', used: 12, cap: 100, nextReliefMs: 1_801_483_200_000 }],
  },
  workers: 'available',
  session: null,
};
