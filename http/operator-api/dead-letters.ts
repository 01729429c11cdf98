import * as v from 'valibot';
import { done, failed } from '../../actors/failure.ts';
import { deadLetter } from '../../actors/reply-schemas/operator-schemas.ts';
import { closedObject } from '../contract/closed-object.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { allows, type OperatorRole } from '../contract/operator-role.ts';
import { cursorParameter, limitParameter } from '../contract/query-parameters.ts';
import { deadLetterExample } from './schemas/fleet-resources.ts';
import { operatorEndpoint } from './services.ts';

export const listDeadLetters = operatorEndpoint({
  name: 'listDeadLetters',
  method: 'GET',
  path: '/dead-letters',
  role: 'read',
  tag: 'Dead letters',
  summary: 'Commands that made an actor throw, newest first',
  query: {
    limit: limitParameter,
    cursor: cursorParameter,
  },
  replies: {
    200: {
      description: 'A page.',
      data: cursorPage(deadLetter),
      example: { items: [deadLetterExample], nextCursor: null },
    },
  },
  async handle({ query, services }) {
    return done(await services.ownNode.deadLetters(query));
  },
});

export const replayDeadLetter = operatorEndpoint({
  name: 'replayDeadLetter',
  method: 'POST',
  path: '/dead-letters/{id}/replay',
  role: 'operate',
  tag: 'Dead letters',
  summary: 'Give a command to its actor again',
  description:
    "Commands of a shop. A tenant's commands change accounts and keys, so only the role `admin` may replay them. Other roles get `403 FORBIDDEN_ROLE`.",
  body: closedObject({}),
  replies: {
    200: {
      description: 'The command succeeded, or crashed the actor again and left another dead letter.',
      data: v.strictObject({ id: v.string(), replayed: v.literal(true) }),
      example: { id: deadLetterExample.id, replayed: true },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params, operator, services }) {
    const letter = await services.ownNode.deadLetter(params.id);
    if (!letter.ok) return letter;
    const neededRole = roleFor(letter.value.actor);
    if (!allows(operator.role, neededRole)) {
      const message = `This asks for the role ${neededRole}; the token of ${operator.name} has the role ${operator.role}.`;
      return failed('FORBIDDEN_ROLE', { message });
    }
    return services.ownNode.replayDeadLetter(params.id);
  },
});

/**
 * Returns the least role that may replay a command of an actor, as the list names it: `shop/<tenant>/<shop>` or
 * `tenant/<tenant>`.
 */
function roleFor(actor: string): OperatorRole {
  return actor.startsWith('shop/') ? 'operate' : 'admin';
}
