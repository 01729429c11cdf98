/** The sessions' metrics as Prometheus reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionCounters } from '../../actors/sessions/session-counters.ts';
import { createMetrics } from '../../http/metrics/metrics.ts';
import { exportSessions } from '../../service/session-metrics.ts';

test('series that an alert compares begin at 0, for each class of stanza and each kind of message', async () => {
  const metrics = createMetrics();
  const counters = new SessionCounters();
  exportSessions(metrics, {
    available: () => true,
    figures: () => ({ workersLost: 0, workerHeapBytes: new Map(), ...counters.counts() }),
  });
  const text = await metrics.text();
  for (const stanzaClass of ['message', 'status', 'receipt', 'notification', 'call', 'appdata', 'other'])
    assert.match(text, new RegExp(`^msgapi_session_unanswered_total\\{class="${stanzaClass}"\\} 0$`, 'm'));
  for (const kind of ['text', 'image', 'reaction', 'other'])
    assert.match(text, new RegExp(`^msgapi_inbound_told_total\\{kind="${kind}"\\} 0$`, 'm'));
});
