import * as v from 'valibot';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { idInEitherCase, text } from '../contract/fields.ts';
import { operatorEndpoint } from './services.ts';

/** POST /resume-all */
export const resumeAll = operatorEndpoint({
  name: 'resumeAll',
  method: 'POST',
  path: '/resume-all',
  role: 'operate',
  tag: 'Actors',
  summary: 'Resume all suspended shops and tenants, or those that a filter names',
  description:
    'Starts each matching actor again. An actor whose cause persists is suspended again; the call does not wait for that. A queue that an operator paused stays paused. A call resumes up to 200 actors on each node; `left` is the number of matching actors that need another call. `cause` is part of the error that suspended them, in any letter case. An actor that was suspended on another node has no known cause and matches none.',
  body: closedObject({
    tenant: v.optional(idInEitherCase),
    cause: v.optional(text({ min: 1, max: 200 })),
  }),
  bodyExample: { cause: 'Unexpected token' },
  replies: {
    200: {
      description: 'How many were started again.',
      data: v.strictObject({
        resumed: v.number(),
        left: v.number(),
        silentNodes: v.array(v.string()),
      }),
      example: { resumed: 12, left: 0, silentNodes: [] },
    },
  },
  errors: [],
  async handle({ body, services }) {
    return reply(200, await services.resumeAll({ tenantId: body.tenant, cause: body.cause }));
  },
});
