import { identity } from '../../actors/reply-schemas/account-schemas.ts';
import type { Identity } from '../../actors/tenants/tenant-operations.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { apiEndpoint } from './services.ts';

/**
 * Returns the body of `GET /me`. Key, tenant and limits are the same objects until they change, so their JSON is kept.
 * Only the numbers of the quota change with each call.
 */
export function identityBody({ key, tenant, limits, quota }: Identity): string {
  const { limit, used, remaining, resetsAt } = quota.api_calls;
  const calls = `{"limit":${limit},"used":${used},"remaining":${remaining},"resetsAt":"${resetsAt}"}`;
  return `${openingOf(key, tenant, limits)}${calls},"apiCalls":${calls}}}}`;
}

/** The start of the body, and the objects that it was made from in addition to the key. */
interface Opening extends Pick<Identity, 'tenant' | 'limits'> {
  readonly text: string;
}

const openings = new WeakMap<Identity['key'], Opening>();

function openingOf(key: Identity['key'], tenant: Identity['tenant'], limits: Identity['limits']): string {
  const knownText = openings.get(key);
  if (knownText?.tenant === tenant && knownText.limits === limits) return knownText.text;
  const identityText = `"key":${JSON.stringify(key)},"tenant":${JSON.stringify(tenant)},"limits":${JSON.stringify(limits)}`;
  const text = `{"success":true,"data":{${identityText},"quota":{"api_calls":`;
  openings.set(key, { tenant, limits, text });
  return text;
}

export const readIdentity = apiEndpoint({
  name: 'readIdentity',
  method: 'GET',
  path: '/me',
  tag: 'Identity',
  summary: "Read the caller's key, tenant, permissions, limits and remaining quota",
  description: 'It counts as a call. It is answered even if the calls of the month are used up.',
  permission: 'none',
  mayExceedQuota: true,
  replies: {
    200: { description: 'The calling key.', data: identity, example: EXAMPLES.identity, write: identityBody },
  },
  handle: ({ caller, services }) => services.tenants.identity(caller),
});
