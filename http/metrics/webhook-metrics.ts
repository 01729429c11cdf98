import type { WebhookPump } from '../../actors/webhooks/webhook-pump.ts';
import type { Metrics } from './metrics.ts';

/** Registers the metrics of a node's webhooks. */
export function exportWebhooks(
  metrics: Metrics,
  { pump }: { readonly pump: Pick<WebhookPump, 'figures'> },
): void {
  metrics.counter(
    'msgapi_webhook_attempts_total',
    'Attempts to send an event to a webhook, by outcome',
    () => {
      const { delivered, failed } = pump.figures();
      return [
        { labels: { outcome: 'delivered' }, value: delivered },
        { labels: { outcome: 'failed' }, value: failed },
      ];
    },
  );
  metrics.counter(
    'msgapi_webhook_dead_letters_total',
    'Events that a webhook did not accept in eight attempts',
    () => pump.figures().undelivered,
  );
  metrics.counter(
    'msgapi_webhooks_disabled_total',
    'Webhooks disabled because they answered 410, failed for five days or lost their secret',
    () => pump.figures().disabled,
  );
  metrics.counter(
    'msgapi_webhook_gaps_total',
    'Times that retention removed events before a webhook received them',
    () => pump.figures().gaps,
  );
  metrics.gauge(
    'msgapi_webhooks',
    'Webhooks to which this node sends events',
    () => pump.figures().endpoints,
  );
  metrics.gauge(
    'msgapi_webhook_retries',
    'Events that wait to be sent to a webhook again',
    () => pump.figures().waiting,
  );
}
