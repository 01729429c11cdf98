import * as v from 'valibot';
import { reply } from '../contract/endpoint.ts';
import { TOKEN_ROLES } from '../contract/operator-role.ts';
import { operatorEndpoint } from './services.ts';

/** GET /me */
export const readOperator = operatorEndpoint({
  name: 'readOperator',
  method: 'GET',
  path: '/me',
  role: 'read',
  tag: 'Operators',
  summary: 'Read the operator of the token, and its role',
  replies: {
    200: {
      description: 'The operator.',
      data: v.strictObject({ name: v.string(), role: v.picklist(TOKEN_ROLES) }),
      example: { name: 'ada', role: 'operate' },
    },
  },
  errors: [],
  async handle({ operator: { name, role } }) {
    return reply(200, { name, role });
  },
});
