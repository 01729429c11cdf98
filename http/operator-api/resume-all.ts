import * as v from 'valibot';
import { closedObject } from '../contract/closed-object.ts';
import { reply } from '../contract/endpoint.ts';
import { text } from '../contract/fields.ts';
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
    'Each is started again, and suspended again where what it crashed of still holds; what becomes of it is not waited for. An operator’s hold of a queue stays. A call resumes up to 200 on each node and tells how many that match are `left` for another. `cause`: part of what they crashed of, in any case of letters; one that was suspended on another node, whose cause is not known any more, matches none.',
  body: closedObject({
    tenant: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/, 'must be a tenant id'))),
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
