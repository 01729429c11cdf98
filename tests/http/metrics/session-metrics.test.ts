/** The sessions' metrics as Prometheus reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionCounters } from '../../../actors/sessions/session-counters.ts';
import { makeMetrics } from '../../../http/metrics/metrics.ts';
import { exportSessions } from '../../../http/metrics/session-metrics.ts';

/** Returns the metrics of these counts in Prometheus' form. */
function textOf(counters: SessionCounters): Promise<string> {
  const metrics = makeMetrics();
  exportSessions(metrics, {
    isAvailable: () => true,
    figures: () => ({ workersLost: 0, workerHeapBytes: new Map(), ...counters.counts() }),
  });
  return metrics.text();
}

test('series that an alert compares begin at 0, for each class of stanza and each kind of message', async () => {
  const text = await textOf(new SessionCounters());
  for (const stanzaClass of ['message', 'status', 'receipt', 'notification', 'call', 'appdata', 'other'])
    assert.match(text, new RegExp(`^msgapi_session_unanswered_total\\{class="${stanzaClass}"\\} 0$`, 'm'));
  for (const kind of ['text', 'image', 'reaction', 'other'])
    assert.match(text, new RegExp(`^msgapi_inbound_told_total\\{kind="${kind}"\\} 0$`, 'm'));
});

test('outcomes are counted by kind, and refusals by the code of the network', async () => {
  const counters = new SessionCounters();
  for (const code of ['463', '463', '479']) counters.countOutcome({ kind: 'refused', code });
  counters.countOutcome({ kind: 'acknowledged' });
  const text = await textOf(counters);
  for (const line of [
    'outcome="refused",code="463"} 2',
    'outcome="refused",code="479"} 1',
    'outcome="acknowledged",code=""} 1',
  ])
    assert.ok(text.includes(`msgapi_session_outcomes_total{${line}\n`), line);
});
