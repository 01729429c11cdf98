import * as v from 'valibot';
import { MESSAGE_REASONS, MESSAGE_STATUSES, type MessageReason } from '../../actors/message-status.ts';
import type {
  DeadLetterView,
  FleetNode,
  ShopActorView,
  ShopInspection,
} from '../../actors/operators/operator-operations.ts';
import { channelStatus, count, instant } from '../contract/resources.ts';
import type { OperatorEvent } from '../events/operator-event.ts';

/** Schemas of nodes and live actors for operators. Times that end in `Ms` are milliseconds since the Unix epoch. */

/** A schema for each field of what is told: a field that has none here does not compile, nor one that is told no more. */
type SchemasOf<Told> = { readonly [Field in keyof Told]-?: v.GenericSchema };
type Shop = NonNullable<ShopActorView['details']>;
type Waiting = NonNullable<Shop['queue']['inHand']>;
type Policy = NonNullable<ShopInspection['policy']>;

const epochMs = v.number();
const whichShop = { tenantId: v.string(), shopId: v.string() };
const messageKind = v.picklist(['message', 'status']);
const reason = v.picklist(Object.keys(MESSAGE_REASONS) as MessageReason[]);

/** A node as the one that is asked knows it. */
export const node = v.strictObject({
  nodeId: v.string(),
  incarnation: v.string(),
  shards: count,
  self: v.boolean(),
  leaseMarginMs: v.exactOptional(v.pipe(v.number(), v.description('Of the node that answers alone.'))),
} satisfies SchemasOf<FleetNode>);

/** A shard and the node that owns it. */
export const shard = v.strictObject({ shard: count, nodeId: v.nullable(v.string()), epoch: count });

/** Five seconds of all nodes. */
export const seriesPoint = v.strictObject({
  at: instant,
  requests: count,
  errors: v.record(v.string(), count),
  messages: v.record(v.string(), count),
  p50Ms: v.nullable(v.number()),
  p99Ms: v.nullable(v.number()),
});

/** The whole service on one page. */
export const overview = v.strictObject({
  shops: count,
  queued: count,
  mailboxDepth: count,
  states: v.record(v.string(), count),
  slotMs: count,
  series: v.array(seriesPoint),
  silentNodes: v.array(v.string()),
  nodesWithoutWorkers: v.array(v.string()),
  suspendedTenants: v.array(v.string()),
  nodes: v.array(node),
  shards: v.array(shard),
});

/** One of a shop's two machines, for a drawing. */
export const machine = v.strictObject({
  id: v.string(),
  initial: v.string(),
  states: v.array(v.string()),
  transitions: v.array(
    v.strictObject({
      from: v.string(),
      to: v.string(),
      event: v.string(),
      guard: v.nullable(v.string()),
    }),
  ),
});

/** A command that made an actor throw. */
export const deadLetter = v.strictObject({
  id: v.string(),
  actor: v.pipe(v.string(), v.description('`kind/id`.')),
  command: v.nullable(v.string()),
  cause: v.string(),
  at: instant,
} satisfies SchemasOf<DeadLetterView>);

const waiting = v.strictObject({
  messageId: v.string(),
  kind: messageKind,
  to: v.string(),
  alias: v.exactOptional(v.string()),
  textLength: count,
  createdAtMs: epochMs,
  place: v.exactOptional(v.pipe(count, v.description('Its place in the stored queue.'))),
  carriedFor: v.exactOptional(v.strictObject(whichShop)),
} satisfies SchemasOf<Waiting>);

const lastEnd = v.strictObject({
  end: v.string(),
  statusCode: v.nullable(v.number()),
  detail: v.string(),
  atMs: epochMs,
} satisfies SchemasOf<NonNullable<Shop['channel']['lastEnd']>>);

/** Both machines of a shop, the head of its queue and its last steps. */
export const shopDetails = v.strictObject({
  ...whichShop,
  name: v.string(),
  tenantActive: v.boolean(),
  status: channelStatus,
  channel: v.strictObject({
    state: v.string(),
    configId: v.nullable(v.string()),
    generation: count,
    phone: v.nullable(v.string()),
    pairedAtMs: v.nullable(epochMs),
    lastPairedAtMs: v.exactOptional(epochMs),
    lastPhone: v.exactOptional(v.string()),
    warmupSinceMs: v.exactOptional(v.nullable(epochMs)),
    flagged: v.boolean(),
    asked: v.exactOptional(v.boolean()),
    pairWith: v.exactOptional(v.nullable(v.string())),
    attempts: count,
    reconnectAtMs: v.nullable(epochMs),
    downSinceMs: v.nullable(epochMs),
    lastEnd: v.nullable(lastEnd),
    codesRefusedAtMs: v.exactOptional(v.nullable(epochMs)),
  } satisfies SchemasOf<Shop['channel']>),
  pacing: v.strictObject({
    state: v.string(),
    hand: v.nullable(
      v.strictObject({
        messageId: v.string(),
        kind: messageKind,
        to: v.string(),
        textLength: count,
      } satisfies SchemasOf<NonNullable<Shop['pacing']['hand']>>),
    ),
    untilMs: v.nullable(epochMs),
    heldByOperator: v.boolean(),
    unsent: v.exactOptional(v.strictObject({ messageId: v.string(), times: count })),
    coldPausedUntilMs: v.exactOptional(v.nullable(epochMs)),
  } satisfies SchemasOf<Shop['pacing']>),
  queue: v.strictObject({
    depth: count,
    inHand: v.nullable(waiting),
    waiting: v.array(
      v.strictObject({
        ...waiting.entries,
        unlessSent: v.strictObject({ atMs: epochMs, reason }),
      } satisfies SchemasOf<Shop['queue']['waiting'][number]>),
    ),
  } satisfies SchemasOf<Shop['queue']>),
  pooled: v.array(
    v.strictObject({
      messageId: v.string(),
      to: v.string(),
      createdAtMs: epochMs,
      pool: v.nullable(v.strictObject(whichShop)),
      taken: v.boolean(),
      place: v.pipe(count, v.description('Its place in the list of what the shop accepted.')),
      askAtMs: epochMs,
    } satisfies SchemasOf<Shop['pooled'][number]>),
  ),
  undelivered: v.nullable(
    v.pipe(
      v.strictObject({
        sinceMs: epochMs,
        count,
        enoughSinceMs: v.exactOptional(epochMs),
        isLong: v.boolean(),
      } satisfies SchemasOf<NonNullable<Shop['undelivered']>>),
      v.description('Messages that were sent since a recipient last said that they have one.'),
    ),
  ),
  counted: count,
  groups: v.nullable(count),
  qrWaiting: v.boolean(),
  transitions: v.array(
    v.strictObject({
      atMs: epochMs,
      machine: v.picklist(['channel', 'pacing']),
      from: v.string(),
      to: v.string(),
      event: v.string(),
    } satisfies SchemasOf<Shop['transitions'][number]>),
  ),
} satisfies SchemasOf<Shop>);

/** A shop's actor; name, state and details are null while nothing of it is in memory. */
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

/** The same, with the fields of its own page. */
export const shopInspection = v.strictObject({
  ...shopActor.entries,
  policy: v.pipe(
    v.nullable(v.strictObject({ warmupDay: count, windows: v.array(policyWindow) })),
    v.description('Null: what is stored of it cannot be read.'),
  ),
  workers: v.picklist(['available', 'lost']),
  session: v.pipe(
    v.nullable(v.record(v.string(), v.unknown())),
    v.description("Facts of the live session, of the chat client's own choice; null: there is none."),
  ),
} satisfies SchemasOf<ShopInspection>);

const namedShop = { ...whichShop, shop: v.string() };
type EventData<Type extends OperatorEvent['type']> = Extract<OperatorEvent, { type: Type }>['data'];

/** The schema of each field of each event: an event or a field that has none here does not compile. */
type EventSchemas = {
  readonly [Type in OperatorEvent['type']]: {
    readonly [Field in keyof EventData<Type>]-?: v.GenericSchema<unknown, EventData<Type>[Field]>;
  };
};

const EVENT_SCHEMAS = {
  message: {
    ...namedShop,
    messageId: v.string(),
    status: v.picklist(MESSAGE_STATUSES),
    reason: v.nullable(reason),
    ageMs: v.pipe(
      v.nullable(v.number()),
      v.description('Milliseconds since it was accepted; null of a message that a pool shop carries.'),
    ),
  },
  channel: { ...namedShop, status: channelStatus, state: v.string() },
  pacing: {
    ...namedShop,
    state: v.string(),
    heldByOperator: v.boolean(),
    began: v.nullable(v.picklist(['operator', 'rate_signal'])),
  },
  number: {
    ...namedShop,
    state: v.literal('shared'),
    number: v.pipe(v.string(), v.description('A digest: the same for the same number.')),
    otherTenants: v.pipe(v.array(v.string()), v.description('Tenants that had the number within 30 days.')),
  },
  webhook: {
    tenantId: v.string(),
    webhookId: v.string(),
    state: v.pipe(v.literal('disabled'), v.description('By the service, not by an operator.')),
    disabledBy: v.picklist(['gone', 'failing', 'unreadable']),
  },
  tenant: { tenantId: v.string() },
  shop: whichShop,
  node: { nodeId: v.string(), standing: v.picklist(['silent', 'heard', 'gone']) },
  missed: { nodeId: v.exactOptional(v.string()), count },
} satisfies EventSchemas;

/** The JSON of one server-sent event. */
export const operatorEvent = v.variant(
  'type',
  Object.entries(EVENT_SCHEMAS).map(([type, fields]) =>
    v.strictObject({ type: v.literal(type), at: instant, ...fields }),
  ),
);

/** An example of a shop, for the document. */
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

/** The same, with the fields of its own page. */
export const shopInspectionExample = {
  ...shopActorExample,
  policy: { warmupDay: 9, windows: [{ window: 'perDay', used: 12, cap: 100, nextReliefMs: 1801483200000 }] },
  workers: 'available',
  session: null,
};

/** An example of a node, for the document. */
export const nodeExample = {
  nodeId: 'node-1',
  incarnation: 'node-1~1',
  shards: 128,
  self: true,
  leaseMarginMs: 4200,
};

/** An example of a dead letter, for the document. */
export const deadLetterExample = {
  id: '66b1f0a2c3d4e5f607182909',
  actor: 'shop/66b1f0a2c3d4e5f607182906.66b1f0a2c3d4e5f607182901',
  command: 'send',
  cause: 'the ledger cannot be read',
  at: '2027-01-31T12:00:00.000Z',
};
