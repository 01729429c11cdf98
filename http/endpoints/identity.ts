import { onceKnown } from '../../runtime/eventual.ts';
import { apiEndpoint } from '../api-services.ts';
import { reply } from '../endpoint.ts';
import { EXAMPLES } from '../examples.ts';
import { identity } from '../resources.ts';

/** GET /me */
export const readIdentity = apiEndpoint({
  method: 'GET',
  path: '/me',
  tag: 'Identity',
  summary: 'Who calls: key, tenant, permissions, limits and the remaining quota',
  permission: 'none',
  replies: { 200: { description: 'The calling key.', data: identity, example: EXAMPLES.identity } },
  errors: [],
  handle: ({ caller, services }) =>
    onceKnown(services.tenants.identity(caller), (found) => (found.ok ? reply(200, found.value) : found)),
});
