import * as v from 'valibot';
import { mapOutcome } from '../../actors/failure.ts';
import { scheduledSend } from '../../actors/reply-schemas/message-schemas.ts';
import type { ScheduledView } from '../../actors/shops/shop-operations.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { closedObject } from '../contract/closed-object.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { pickFields } from './resources.ts';
import { operatorEndpoint } from './services.ts';

const FIELDS = ['id', 'status', 'sendAt', 'notAfter', 'to', 'createdAt'] as const;

const scheduledOutcome = v.pick(scheduledSend, FIELDS);

const outcomeOf = (view: ScheduledView) => pickFields(view, FIELDS);

const EXAMPLE = outcomeOf(EXAMPLES.scheduled);

export const listShopScheduled = operatorEndpoint({
  name: 'listShopScheduled',
  method: 'GET',
  path: '/actors/{tenantId}/{shopId}/scheduled',
  role: 'read',
  tag: 'Actors',
  summary: "A shop's sends that wait for their time, newest first, without their texts",
  query: { limit: limitParameter, cursor: cursorParameter },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(scheduledOutcome),
      example: { items: [EXAMPLE], nextCursor: null },
    },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND'],
  async handle({ params, query, services }) {
    const reply = await services.shops.listScheduled(params, query);
    return mapOutcome(reply, ({ items, nextCursor }) => ({ items: items.map(outcomeOf), nextCursor }));
  },
});

export const cancelShopScheduled = operatorEndpoint({
  name: 'cancelShopScheduled',
  method: 'DELETE',
  path: '/actors/{tenantId}/{shopId}/scheduled/{scheduledId}',
  role: 'operate',
  tag: 'Actors',
  summary: 'Cancel a scheduled send of a shop. Its tenant can do this too',
  body: closedObject({}),
  replies: {
    200: {
      description: 'The ended send. A repeated call gets the same answer.',
      data: scheduledOutcome,
      example: { ...EXAMPLE, status: 'cancelled' },
    },
  },
  errors: ['NOT_FOUND', 'SHOP_NOT_FOUND', 'SCHEDULED_NOT_FOUND', 'NOT_CANCELLABLE'],
  async handle({ params: { tenantId, shopId, scheduledId }, services }) {
    const reply = await services.shops.unschedule({ tenantId, shopId }, scheduledId);
    return mapOutcome(reply, outcomeOf);
  },
});
