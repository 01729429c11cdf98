import type { DeletionReply } from '../../actors/operators/operator-operations.ts';
import { deleted, deleting, erasure } from '../../actors/reply-schemas/operator-schemas.ts';
import { closedObject } from '../contract/closed-object.ts';
import { LONG_FORWARD_TIMEOUT_MS, reply } from '../contract/endpoint.ts';
import { headerLines } from '../contract/exchange.ts';
import { OPERATOR_BASE_PATH } from './base-path.ts';
import { deletedExample, deletingExample } from './resources.ts';
import { operatorEndpoint } from './services.ts';

/** Like the `fromId` of an inbound message. */
const PERSON_EXAMPLE = 'kX3vQm0yT1nB7hZcW9sRfA';

/** Describes how long an erasure takes, in each operation that erases. */
export const ERASURE_DESCRIPTION =
  'An erasure that takes longer than a second is answered `202`. It continues even if the node stops or dies. `readErasure` returns how much is left. A repeated call gets `202` while the erasure runs, `200` if it ends within a second, and `404` once nothing is left.';

export const erasureReplies = {
  200: { description: 'Erased: nothing is left.', data: deleted, example: deletedExample },
  202: {
    description: 'It is hidden. The erasure continues.',
    data: deleting,
    headers: { Location: 'The erasure.' },
    example: deletingExample,
  },
} as const;

/** Returns 200 if everything is erased, 202 while the erasure continues. */
export function erasureReply(tenantId: string, deletion: DeletionReply) {
  if (deletion.deleted) return reply(200, deletion);
  return reply(202, deletion, headerLines({ Location: `${OPERATOR_BASE_PATH}/tenants/${tenantId}/erasure` }));
}

export const deletePerson = operatorEndpoint({
  name: 'deletePerson',
  method: 'DELETE',
  path: '/tenants/{tenantId}/people/{personId}',
  role: 'admin',
  tag: 'Tenants',
  summary: 'Erase somebody who wrote: their messages, name and number, and what shops wrote to them',
  description: `\`personId\` is the \`fromId\` of their messages. An opt-out stays, and so does what counts for the policy. Messages that the shops wrote to them keep their records. Once such a message has ended, its record has no number, text or attachment. ${ERASURE_DESCRIPTION}`,
  body: closedObject({}),
  replies: {
    200: { ...erasureReplies[200], example: { id: PERSON_EXAMPLE, deleted: true } },
    202: {
      ...erasureReplies[202],
      example: { id: PERSON_EXAMPLE, deleted: false, shopsLeft: 0, peopleLeft: 1 },
    },
  },
  errors: ['NOT_FOUND'],
  forwardTimeoutMs: LONG_FORWARD_TIMEOUT_MS,
  async handle({ params: { tenantId, personId }, services }) {
    const deletion = await services.operators.deletePerson(tenantId, personId);
    return deletion.ok ? erasureReply(tenantId, deletion.value) : deletion;
  },
});

export const readErasure = operatorEndpoint({
  name: 'readErasure',
  method: 'GET',
  path: '/tenants/{tenantId}/erasure',
  role: 'read',
  tag: 'Tenants',
  summary: 'Read the progress of the erasure of a tenant, or of its shops and people',
  description: '`404` once nothing is left to erase.',
  replies: {
    200: {
      description: 'The erasure.',
      data: erasure,
      example: {
        id: deletingExample.id,
        wholeTenant: true,
        shopsLeft: deletingExample.shopsLeft,
        peopleLeft: deletingExample.peopleLeft,
      },
    },
  },
  errors: ['NOT_FOUND'],
  handle: ({ params, services }) => services.operators.erasure(params.tenantId),
});
