import type { Identity } from '../../actors/tenant/tenant-operations.ts';
import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import { reply } from '../contract/endpoint.ts';
import { EXAMPLES } from '../contract/examples.ts';
import { rememberedJson } from '../contract/known-json.ts';
import { identity } from '../contract/resources.ts';
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
    200: { description: 'The calling key.', data: identity, example: EXAMPLES.identity, write: identityJson },
  },
  errors: [],
  handle: ({ caller, services }) =>
    mapMaybePromise(services.tenants.identity(caller), (found) =>
      found.ok ? reply(200, found.value) : found,
    ),
});

/** Key, tenant and limits are the same objects until they change; of the rest only numbers change. */
function identityJson({ key, tenant, limits, quota }: Identity): string {
  const { limit, used, remaining, resetsAt } = quota.api_calls;
  const who = `"key":${rememberedJson(key)},"tenant":${rememberedJson(tenant)},"limits":${rememberedJson(limits)}`;
  const calls = `{"limit":${limit},"used":${used},"remaining":${remaining},"resetsAt":"${resetsAt}"}`;
  return `{${who},"quota":{"api_calls":${calls},"apiCalls":${calls}}}`;
}
