import * as v from 'valibot';
import { mapOutcome } from '../../actors/failure.ts';
import { id, instant } from '../../actors/replies/reply-fields.ts';
import type { ScheduledView } from '../../actors/shops/shop-operations.ts';
import { closedObject } from '../contract/closed-object.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { cursorPage } from '../contract/resources.ts';
import { operatorEndpoint } from './services.ts';

/** A scheduled send without its content. */
const scheduledOutcome = v.strictObject({
  id,
  status: v.picklist(['scheduled', 'accepted', 'refused', 'cancelled']),
  sendAt: instant,
  notAfter: instant,
  to: v.string(),
  createdAt: instant,
});

const EXAMPLE = {
  id: '66b1f0a2c3d4e5f607182909',
  status: 'scheduled',
  sendAt: '2027-01-31T12:00:00.000Z',
  notAfter: '2027-01-31T13:00:00.000Z',
  to: '+41797654321',
  createdAt: '2027-01-30T12:00:00.000Z',
} as const;

function outcomeOf(view: ScheduledView): v.InferOutput<typeof scheduledOutcome> {
  const { id: scheduledId, status, sendAt, notAfter, to, createdAt } = view;
  return { id: scheduledId, status, sendAt, notAfter, to, createdAt };
}

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
    const listed = await services.shops.listScheduled(params, query);
    return mapOutcome(listed, ({ items, nextCursor }) => ({ items: items.map(outcomeOf), nextCursor }));
  },
});

export const cancelShopScheduled = operatorEndpoint({
  name: 'cancelShopScheduled',
  method: 'DELETE',
  path: '/actors/{tenantId}/{shopId}/scheduled/{scheduledId}',
  role: 'operate',
  tag: 'Actors',
  summary: 'Cancel a scheduled send of a shop, as its tenant can',
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
    const ended = await services.shops.unschedule({ tenantId, shopId }, scheduledId.toLowerCase());
    return mapOutcome(ended, outcomeOf);
  },
});
