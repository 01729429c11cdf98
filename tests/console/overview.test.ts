/** The sums of the overview, without a service around it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageReason, MessageStatus } from '../../actors/message-status.ts';
import { channelMachine } from '../../actors/shops/machines/channel-machine.ts';
import { machineChart } from '../../actors/shops/machines/machine-chart.ts';
import {
  emptyInterval,
  INTERVAL_MS,
  KEPT_INTERVALS,
  RecentActivity,
} from '../../http/metrics/recent-activity.ts';
import { fleetOverview, type NodeShare } from '../../http/operator-api/fleet/fleet-overview.ts';
import type { OperatorEvent } from '../../http/operator-events/operator-event.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';

const START_MS = 1_700_000_000_000;

function activityAt(): {
  activity: RecentActivity;
  turn(ms: number): void;
  emit(event: OperatorEvent): void;
} {
  let nowMs = START_MS;
  const listeners: ((event: OperatorEvent) => void)[] = [];
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs } as Clock;
  const feed = {
    subscribe(listener: (event: OperatorEvent) => void) {
      listeners.push(listener);
      return () => undefined;
    },
  };
  return {
    activity: new RecentActivity({ clock, feed }),
    turn: (ms) => {
      nowMs += ms;
    },
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
}

const message = (
  status: MessageStatus,
  reason: MessageReason | null,
  ageMs: number | null = 0,
): OperatorEvent => ({
  type: 'message',
  at: '',
  data: { tenantId: 't', shopId: 's', shop: 'Bakery', messageId: 'm', status, reason, ageMs },
});

test('requests, refusals and messages fall into the interval of their time, and old intervals go', () => {
  const { activity, turn, emit } = activityAt();
  activity.countRequest({ atMs: START_MS, route: '/me', latencyMs: 3, errorCode: undefined });
  activity.countRequest({ atMs: START_MS, route: '/me', latencyMs: 3, errorCode: 'RATE_LIMITED' });
  emit(message('sent', null));
  emit(message('sending', null));
  turn(INTERVAL_MS);
  emit(message('failed', 'SEND_REFUSED'));
  const [first, secondInterval] = activity.intervals();
  assert.deepEqual([first?.requests, first?.errors, first?.messages], [2, { RATE_LIMITED: 1 }, { sent: 1 }]);
  assert.deepEqual(secondInterval?.messages, { SEND_REFUSED: 1 });
  turn(180 * INTERVAL_MS);
  assert.deepEqual(activity.intervals(), [], 'also while nothing new happens');
  activity.countRequest({
    atMs: START_MS + 181 * INTERVAL_MS,
    route: '/me',
    latencyMs: 1,
    errorCode: undefined,
  });
  assert.equal(activity.intervals().length, 1);
});

test('a message that a shop of the pool carried counts once, as its own shop reports it', () => {
  const { activity, emit } = activityAt();
  emit(message('sent', null, null));
  emit(message('sent', null, 1_000));
  assert.deepEqual(activity.intervals()[0]?.messages, { sent: 1 });
});

test('calls that wait on purpose, for a code or for events, count as requests and not into latencies', () => {
  const { activity } = activityAt();
  const channel = '/shops/{idOrName}/channels/msgapp';
  for (const route of [`${channel}/connect`, `${channel}/pairing-code`, '/events'])
    activity.countRequest({ atMs: START_MS, route, latencyMs: 9_000, errorCode: undefined });
  const [interval] = activity.intervals();
  assert.equal(interval?.requests, 3);
  assert.equal(
    interval?.latencies.reduce((sum, count) => sum + count, 0),
    0,
  );
});

const share = (slots: NodeShare['slots'], nodeId = 'a'): NodeShare => ({
  nodeId,
  workers: nodeId === 'b' ? 'lost' : 'available',
  shops: 2,
  queued: 3,
  scheduled: 2,
  oldestMessageMs: null,
  mailboxDepth: 1,
  states: { connected: 2 },
  suspendedTenants: [`${nodeId}-tenant`],
  slots,
});

test('nodes are added up interval by interval; a silent one is named; times in which nothing happened are zero', async () => {
  const { activity, turn } = activityAt();
  for (let index = 0; index < 100; index += 1) {
    activity.countRequest({
      atMs: START_MS,
      route: '/me',
      latencyMs: index < 98 ? 1.5 : 150,
      errorCode: undefined,
    });
  }
  turn(2 * INTERVAL_MS);
  activity.countRequest({
    atMs: START_MS + 2 * INTERVAL_MS,
    route: '/me',
    latencyMs: 3,
    errorCode: undefined,
  });
  const overview = await fleetOverview({
    own: () => Promise.resolve(share(activity.intervals())),
    forwarder: {
      otherNodes: () => ['b', 'c'],
      forwardToNode: (nodeId) =>
        nodeId === 'b'
          ? Promise.resolve(JSON.stringify(share(activity.intervals(), 'b')))
          : Promise.reject(new Error('gone')),
    },
    nowMs: START_MS + 3 * INTERVAL_MS,
  });
  assert.deepEqual([overview.silentNodes, overview.nodesWithoutWorkers], [['c'], ['b']]);
  assert.deepEqual(overview.suspendedTenants, ['a-tenant', 'b-tenant']);
  assert.deepEqual(
    [overview.shops, overview.queued, overview.scheduled, overview.states.connected],
    [4, 6, 4, 4],
  );
  assert.deepEqual(
    overview.series.map(({ requests }) => requests),
    [200, 0, 2],
  );
  const [busy, idle] = overview.series;
  assert.ok((busy?.p50Ms ?? 0) > 1 && (busy?.p50Ms ?? 9) <= 2);
  assert.ok((busy?.p99Ms ?? 0) > 100 && (busy?.p99Ms ?? 999) <= 200);
  assert.equal(idle?.p99Ms, null);
});

/** A share as 0.2.0 sends it. It is a text, because a value of type `NodeShare` would follow a renamed field. */
const SHARE_OF_0_2_0 = `{
  "shops": 2, "queued": 3, "oldestMessageMs": null, "mailboxDepth": 1, "states": { "connected": 2 },
  "suspendedTenants": ["b-tenant"], "nodeId": "b", "workers": "lost",
  "slots": [{
    "atMs": ${START_MS}, "requests": 3, "errors": { "RATE_LIMITED": 1 },
    "latencies": [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "messages": { "sent": 1 }
  }]
}`;

test('a node of 0.2.0, whose share lacks the scheduled sends, counts with the fields that it has', async () => {
  const overview = await fleetOverview({
    own: () => Promise.resolve(share([])),
    forwarder: { otherNodes: () => ['b'], forwardToNode: () => Promise.resolve(SHARE_OF_0_2_0) },
    nowMs: START_MS + INTERVAL_MS,
  });
  assert.deepEqual([overview.silentNodes, overview.nodesWithoutWorkers], [[], ['b']]);
  assert.deepEqual(overview.suspendedTenants, ['a-tenant', 'b-tenant']);
  assert.deepEqual(
    [overview.shops, overview.queued, overview.mailboxDepth, overview.scheduled],
    [4, 6, 2, 2],
  );
  assert.deepEqual(overview.states, { connected: 4 });
  const [only] = overview.series;
  assert.deepEqual([only?.requests, only?.errors, only?.messages], [3, { RATE_LIMITED: 1 }, { sent: 1 }]);
  assert.equal(only?.p50Ms, 1.5);
});

test('a chart holds the states and ways of the machine that runs', () => {
  const chart = machineChart(channelMachine);
  assert.equal(chart.initial, 'unconfigured');
  assert.deepEqual(chart.states.slice(0, 3), ['unconfigured', 'starting', 'qr_waiting']);
  assert.ok(
    chart.transitions.some(
      ({ from, to, event, guard }) =>
        from === 'connected' && to === 'disconnected' && event === 'closed' && guard === 'isLoggedOut',
    ),
  );
  for (const { from, to } of chart.transitions)
    assert.ok(chart.states.includes(from) && chart.states.includes(to));
});

test('a node whose clock is a month behind does not make the chart longer', async () => {
  const behind = emptyInterval(START_MS - 30 * DAY_MS);
  const overview = await fleetOverview({
    own: () => Promise.resolve(share([emptyInterval(START_MS)])),
    forwarder: {
      otherNodes: () => ['b'],
      forwardToNode: () => Promise.resolve(JSON.stringify(share([behind], 'b'))),
    },
    nowMs: START_MS + INTERVAL_MS,
  });
  assert.equal(overview.series.length, KEPT_INTERVALS);
});
