import * as v from 'valibot';
import { INBOUND_MODES } from '../../../actors/inbound-mode.ts';
import { MESSAGE_REASONS, type MessageReason } from '../../../actors/message-status.ts';
import { count } from '../../../actors/reply-schemas/reply-fields.ts';
import { channelStatus } from '../../../actors/reply-schemas/shop-schemas.ts';
import type { ShopActorView } from '../../../actors/shops/inspection/shop-inspection.ts';

type Shop = NonNullable<ShopActorView['details']>;
type MessageInHand = NonNullable<Shop['queue']['inHand']>;

/** A schema for each field of a view. A missing or additional schema does not compile. */
export type SchemasOf<View> = { readonly [Field in keyof View]-?: v.GenericSchema };

/** Milliseconds since the Unix epoch. */
export const epochMs = v.number();
const messageKind = v.picklist(['message', 'status']);

export const whichShop = { tenantId: v.string(), shopId: v.string() };

/** Why a message ended. */
export const reason = v.picklist(Object.keys(MESSAGE_REASONS) as MessageReason[]);

const waitingMessage = v.strictObject({
  messageId: v.string(),
  kind: messageKind,
  to: v.string(),
  alias: v.exactOptional(v.string()),
  createdAtMs: epochMs,
  place: v.exactOptional(v.pipe(count, v.description('Its position in the stored queue.'))),
  carriedFor: v.exactOptional(v.strictObject(whichShop)),
  batchId: v.exactOptional(v.string()),
} satisfies SchemasOf<MessageInHand>);

const lastEnd = v.strictObject({
  end: v.string(),
  statusCode: v.nullable(v.number()),
  detail: v.string(),
  atMs: epochMs,
  networkCode: v.exactOptional(v.number()),
} satisfies SchemasOf<NonNullable<Shop['channel']['lastEnd']>>);

/** A shop's egress in replies. */
export const egressField = v.pipe(
  v.nullable(v.string()),
  v.description(
    'The proxy of all its connections, with `***` for the password. `unreadable`: no configured key decrypts it, so the shop cannot connect. Null: there is none.',
  ),
);

/** Both machines of a shop, the head of its queue and its last steps. */
export const shopDetails = v.strictObject({
  ...whichShop,
  name: v.string(),
  tenantActive: v.boolean(),
  inbound: v.picklist(INBOUND_MODES),
  egress: egressField,
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
    replacedAtMs: v.exactOptional(epochMs),
    codesRefusedAtMs: v.exactOptional(v.nullable(epochMs)),
    ban: v.exactOptional(v.nullable(v.strictObject({ untilMs: epochMs, forMs: count }))),
    loginRefusals: v.exactOptional(count),
  } satisfies SchemasOf<Shop['channel']>),
  pacing: v.strictObject({
    state: v.string(),
    hand: v.nullable(
      v.strictObject({
        messageId: v.string(),
        kind: messageKind,
        to: v.string(),
        startsChat: v.exactOptional(
          v.pipe(
            v.boolean(),
            v.description("It is on the wire and counts against the network's quota of new chats."),
          ),
        ),
      } satisfies SchemasOf<NonNullable<Shop['pacing']['hand']>>),
    ),
    untilMs: v.nullable(epochMs),
    heldByOperator: v.boolean(),
    pausedForMs: v.exactOptional(count),
    unsent: v.exactOptional(v.strictObject({ messageId: v.string(), times: count })),
  } satisfies SchemasOf<Shop['pacing']>),
  queue: v.strictObject({
    depth: count,
    inHand: v.nullable(waitingMessage),
    waiting: v.array(
      v.strictObject({
        ...waitingMessage.entries,
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
      place: v.pipe(count, v.description('Its position in the list of accepted sends.')),
      askAtMs: epochMs,
    } satisfies SchemasOf<Shop['pooled'][number]>),
  ),
  scheduled: v.pipe(count, v.description('Sends that wait for their time.')),
  batches: v.pipe(count, v.description('Batches that have not ended.')),
  limits: v.pipe(
    v.strictObject({
      restriction: v.nullable(
        v.strictObject({
          kind: v.pipe(
            v.string(),
            v.description("The network's name for it. `REFUSED`: the network only refused a message."),
          ),
          untilMs: epochMs,
          isEndKnown: v.boolean(),
        } satisfies SchemasOf<NonNullable<Shop['limits']['restriction']>>),
      ),
      newChats: v.nullable(
        v.strictObject({
          quota: count,
          used: count,
          accepted: count,
          warning: v.nullable(v.picklist(['first', 'second', 'capped'])),
          endsAtMs: v.nullable(epochMs),
          atMs: epochMs,
        } satisfies SchemasOf<NonNullable<Shop['limits']['newChats']>>),
      ),
    } satisfies SchemasOf<Shop['limits']>),
    v.description("The limits that the chat network has set for the shop's number."),
  ),
  undelivered: v.nullable(
    v.pipe(
      v.strictObject({
        sinceMs: epochMs,
        count,
        enoughSinceMs: v.exactOptional(epochMs),
        isLong: v.boolean(),
      } satisfies SchemasOf<NonNullable<Shop['undelivered']>>),
      v.description('Messages that were sent since a phone last reported that it got one.'),
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
