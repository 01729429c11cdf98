import * as v from 'valibot';
import { MESSAGE_STATUSES } from '../../../actors/message-status.ts';
import { count, instant } from '../../../actors/reply-schemas/reply-fields.ts';
import { channelStatus } from '../../../actors/reply-schemas/shop-schemas.ts';
import type { OperatorEvent } from '../../operator-events/operator-event.ts';
import { reason, whichShop } from './shop-details.ts';

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
      v.description(
        'Milliseconds since it was accepted. Null for a message that a pool shop sends for another.',
      ),
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
