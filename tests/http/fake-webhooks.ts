import { done, failed } from '../../actors/failure.ts';
import type { WebhookOperations, WebhookView } from '../../actors/webhooks/webhook-operations.ts';
import type { FakeMemory } from './fake-account.ts';

/** Webhooks that are kept and never sent anything. */
export function fakeWebhooks(memory: FakeMemory): WebhookOperations {
  const kept = new Map<string, Map<string, WebhookView>>();
  const known = (tenantId: string) => memory.tenants.has(tenantId);
  const of = (tenantId: string): Map<string, WebhookView> => kept.get(tenantId) ?? new Map();
  const secret = 'whsec_c2VjcmV0';
  return {
    async create(tenantId, draft) {
      if (!known(tenantId)) return failed('NOT_FOUND');
      const webhook: WebhookView = {
        ...{ id: memory.id(), ...draft, createdAt: new Date().toISOString(), disabledAt: null },
        ...{ disabledBy: null, formerSecretUntil: null, failingSince: null },
        ...{ waiting: 0, deadLetters: 0, missedUntil: null },
      };
      kept.set(tenantId, of(tenantId).set(webhook.id, webhook));
      return done({ webhook, secret });
    },
    list: async (tenantId) => (known(tenantId) ? done([...of(tenantId).values()]) : failed('NOT_FOUND')),
    async read(tenantId, webhookId) {
      const webhook = of(tenantId).get(webhookId);
      return webhook === undefined ? failed('NOT_FOUND') : done(webhook);
    },
    async change(tenantId, webhookId) {
      const webhook = of(tenantId).get(webhookId);
      return webhook === undefined ? failed('NOT_FOUND') : done(webhook);
    },
    remove: async (tenantId, webhookId) =>
      of(tenantId).delete(webhookId) ? done({ id: webhookId, deleted: true }) : failed('NOT_FOUND'),
    async rotateSecret(tenantId, webhookId) {
      const webhook = of(tenantId).get(webhookId);
      return webhook === undefined ? failed('NOT_FOUND') : done({ webhook, secret });
    },
    test: async (tenantId, webhookId) =>
      of(tenantId).has(webhookId) ? done({ status: 200, error: null }) : failed('NOT_FOUND'),
    attempts: async (tenantId, webhookId) =>
      of(tenantId).has(webhookId) ? done({ items: [], deadLetters: [] }) : failed('NOT_FOUND'),
    replay: async (tenantId, webhookId) =>
      of(tenantId).has(webhookId) ? done({ replayed: 0 }) : failed('NOT_FOUND'),
  };
}
