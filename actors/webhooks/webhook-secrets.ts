import type { TextCipher } from '../../runtime/text-cipher.ts';
import type { WebhookRecord } from '../tenants/webhook-record.ts';

/** The use that an endpoint's secret is sealed for: it opens as the secret of no other endpoint. */
export function secretUse(tenantId: string, webhookId: string): string {
  return `${tenantId}/${webhookId}`;
}

/** Returns a secret in plain text, or undefined if no configured key opens it. */
export function openedSecret(cipher: TextCipher, use: string, sealed: string): string | undefined {
  try {
    return cipher.open(use, sealed);
  } catch {
    return undefined;
  }
}

/**
 * Returns an endpoint to store under the present keys: its secrets are sealed with the newest, so that an older key can
 * be removed. If no key opens its secret it is disabled as `unreadable`, and enabled again once a key opens it. Returns
 * the same object if nothing changes. Never throws.
 */
export function resealed(
  tenantId: string,
  webhook: WebhookRecord,
  { cipher, nowMs }: { readonly cipher: TextCipher; readonly nowMs: number },
): WebhookRecord {
  const use = secretUse(tenantId, webhook.id);
  const resealed = (sealed: string): string => {
    if (cipher.isNewest(use, sealed)) return sealed;
    const secret = openedSecret(cipher, use, sealed);
    return secret === undefined ? sealed : cipher.seal(use, secret);
  };
  const { former, disabled } = webhook;
  if (openedSecret(cipher, use, webhook.secret) === undefined)
    return disabled === null ? { ...webhook, disabled: { atMs: nowMs, why: 'unreadable' } } : webhook;
  const secret = resealed(webhook.secret);
  const formerSecret = former && resealed(former.secret);
  const isBack = disabled?.why === 'unreadable';
  if (secret === webhook.secret && formerSecret === (former?.secret ?? null) && !isBack) return webhook;
  return {
    ...webhook,
    secret,
    former: former && { ...former, secret: formerSecret ?? former.secret },
    ...(isBack ? { disabled: null, enabledAtMs: nowMs } : {}),
  };
}
