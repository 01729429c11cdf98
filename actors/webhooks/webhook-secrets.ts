import { isDeepStrictEqual } from 'node:util';
import type { TextCipher } from '../../runtime/text-cipher.ts';
import {
  type FormerSecret,
  laterEnabledAtMs,
  type WebhookRecord,
} from '../tenants/stored-webhooks/webhook-record.ts';

/** Returns the use that an endpoint's secret is sealed for: it opens as the secret of no other endpoint. */
export function secretUse(tenantId: string, webhookId: string): string {
  return `${tenantId}/${webhookId}`;
}

/** Returns a secret in plain text, or undefined if no configured key opens it. */
export function openedSecret(cipher: TextCipher, use: string, sealedSecret: string): string | undefined {
  try {
    return cipher.open(use, sealedSecret);
  } catch {
    return undefined;
  }
}

/** Returns the sealed secrets that sign at that time, the present one first. */
export function secretsAt({ secret, former, earlier = [] }: WebhookRecord, nowMs: number): string[] {
  const formerSecrets = former === null ? [] : [former, ...earlier];
  return [
    secret,
    ...formerSecrets.filter(({ untilMs }) => untilMs > nowMs).map((formerSecret) => formerSecret.secret),
  ];
}

/**
 * Returns an endpoint to store under the present keys. Its secrets are sealed with the newest, so that an older key can
 * be removed. If no key opens its secret it is disabled as `unreadable`, and enabled again once a key opens it. Returns
 * the same object if nothing changes. Never throws.
 */
export function resealWebhook(
  tenantId: string,
  webhook: WebhookRecord,
  { cipher, nowMs }: { readonly cipher: TextCipher; readonly nowMs: number },
): WebhookRecord {
  const use = secretUse(tenantId, webhook.id);
  const reseal = (sealedSecret: string): string => {
    if (cipher.isNewest(use, sealedSecret)) return sealedSecret;
    const secret = openedSecret(cipher, use, sealedSecret);
    return secret === undefined ? sealedSecret : cipher.seal(use, secret);
  };
  const { former, earlier, disabled } = webhook;
  if (openedSecret(cipher, use, webhook.secret) === undefined)
    return disabled === null ? { ...webhook, disabled: { atMs: nowMs, why: 'unreadable' } } : webhook;
  const resealFormer = (formerSecret: FormerSecret): FormerSecret => ({
    ...formerSecret,
    secret: reseal(formerSecret.secret),
  });
  const changedFields = {
    ...webhook,
    secret: reseal(webhook.secret),
    former: former && resealFormer(former),
    ...(earlier === undefined ? {} : { earlier: earlier.map(resealFormer) }),
    ...(disabled?.why === 'unreadable'
      ? { disabled: null, enabledAtMs: laterEnabledAtMs(webhook, nowMs) }
      : {}),
  };
  return isDeepStrictEqual(changedFields, webhook) ? webhook : changedFields;
}
