import type { Identity } from '../../actors/tenants/tenant-operations.ts';

/** The body of `GET /me`. Key, tenant and limits are the same objects until they change; of the rest only numbers change. */
export function identityBody({ key, tenant, limits, quota }: Identity): string {
  const { limit, used, remaining, resetsAt } = quota.api_calls;
  const calls = `{"limit":${limit},"used":${used},"remaining":${remaining},"resetsAt":"${resetsAt}"}`;
  return `${openingOf(key, tenant, limits)}${calls},"apiCalls":${calls}}}}`;
}

/** What the body begins with, and what that was made of beside the key. */
interface Opening extends Pick<Identity, 'tenant' | 'limits'> {
  readonly text: string;
}

const openings = new WeakMap<Identity['key'], Opening>();

function openingOf(key: Identity['key'], tenant: Identity['tenant'], limits: Identity['limits']): string {
  const known = openings.get(key);
  if (known?.tenant === tenant && known.limits === limits) return known.text;
  const who = `"key":${JSON.stringify(key)},"tenant":${JSON.stringify(tenant)},"limits":${JSON.stringify(limits)}`;
  const text = `{"success":true,"data":{${who},"quota":{"api_calls":`;
  openings.set(key, { tenant, limits, text });
  return text;
}
