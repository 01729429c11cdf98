import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import { identity } from '../contract/account-resources.ts';
import { reply } from '../contract/endpoint.ts';
import { EXAMPLES } from '../contract/examples.ts';
import { identityBody } from '../contract/identity-body.ts';
import { apiEndpoint } from './services.ts';

/** GET /me */
export const readIdentity = apiEndpoint({
  name: 'readIdentity',
  method: 'GET',
  path: '/me',
  tag: 'Identity',
  summary: 'Who calls: key, tenant, permissions, limits and the remaining quota',
  description: 'Counts as a call like any other, and is answered also when the month’s calls are spent.',
  permission: 'none',
  mayExceedQuota: true,
  replies: {
    200: { description: 'The calling key.', data: identity, example: EXAMPLES.identity, write: identityBody },
  },
  errors: [],
  handle: ({ caller, services }) =>
    mapMaybePromise(services.tenants.identity(caller), (found) =>
      found.ok ? reply(200, found.value) : found,
    ),
});
