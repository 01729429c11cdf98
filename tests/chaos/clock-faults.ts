import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { listening } from '../testbed/listening.ts';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected, type ChaosShop, openShops } from './chaos-shops.ts';
import { type Fault, homeOfFirst, within } from './scenario.ts';
import { untilEvents } from './storms.ts';

/** The service with clocks that signals shift. */
export const SHIFTED_SERVICE = 'tests/chaos/shifted-service.ts';

/** How soon after the fault's end everything goes on by itself. */
const RECOVERY_MS = 15_000;

/** The clock of one node is 5 hours ahead for `forMs`, then corrected. */
export function clockAhead(forMs: number): Fault {
  return {
    name: `clock 5 hours ahead (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node } = await homeOfFirst(run);
      const before = await node.metric('msgapi_runtime_clock_disputes_total');
      node.signal('SIGUSR2');
      await pause(forMs);
      const ahead = await node.metric('msgapi_runtime_clock_ahead_seconds');
      const owned = await node.metric('msgapi_runtime_shards_owned');
      node.signal('SIGUSR2');
      const startedMs = performance.now();
      await run.fleet.spread();
      await allConnected(run.shops);
      const recoveredMs = performance.now() - startedMs;
      within(run, RECOVERY_MS, 'going on after the clock was put right', recoveredMs);
      assert.equal((await node.metric('msgapi_runtime_clock_disputes_total')) - before, 1);
      return { recoveredMs, note: `${Math.round(ahead)} s ahead it owned ${owned} shards` };
    },
  };
}

/** How soon what is due goes out after the clocks stepped, besides the time in which its text is typed. */
const DUE_MS = 2_000;
const TYPING_MS = 1_500;

/**
 * Steps the clocks of all nodes and of Redis an hour ahead, and later a second back. A shop waits 15 minutes after a
 * rate signal, and its endpoint asked for half an hour. Both continue at once, and a new message is not delayed. The
 * clocks stay wrong, so no fault may follow.
 */
export const clocksStep: Fault = {
  name: 'the clocks of all step an hour ahead, then a second back',
  async inflict(run) {
    const { fleet } = run;
    const [shop] = await openShops(fleet, 1);
    assert.ok(shop);
    const endpoint = await busyEndpoint();
    try {
      const url = endpoint.url;
      await fleet.admin.post(`/tenants/${shop.tenantId}/webhooks`, { url, types: ['queue.paused'] });
      await fleet.network.ackErrors(shop.phone, 429);
      const waiting = await accepted(shop);
      await untilEvents(shop, 'queue.paused', 1);
      await until('the endpoint is asked', async () => endpoint.calls() === 1);
      const recoveredMs = await measured(async () => {
        for (const node of fleet.nodes) node.signal('SIGPWR');
        await until('the endpoint is asked again', async () => endpoint.calls() === 2);
        await untilStatus(shop, waiting, 'sent');
      });
      within(run, DUE_MS + TYPING_MS, 'what fell due by the step ahead', recoveredMs);
      const nextMs = await measured(async () => untilStatus(shop, await accepted(shop), 'sent'));
      within(run, DUE_MS + TYPING_MS, 'a message after the step ahead', nextMs);
      for (const node of fleet.nodes) node.signal('SIGWINCH');
      const backMs = await measured(async () => untilStatus(shop, await accepted(shop), 'sent'));
      within(run, DUE_MS + TYPING_MS, 'a message after the step back', backMs);
      return {
        recoveredMs,
        note: `a message after each step: ${Math.round(nextMs)}, ${Math.round(backMs)} ms`,
      };
    } finally {
      endpoint.close();
    }
  },
};

/** Sends a short text to a fresh customer; the message's id. */
async function accepted(shop: ChaosShop): Promise<string> {
  const to = shop.freshRecipients.pop() ?? '';
  const { status, data, error } = await sendText(shop, shop.id, { to, text: 'Soon', idempotencyKey: to });
  assert.ok(status === 202 || status === 200, JSON.stringify(error));
  return String(data.id);
}

async function measured(act: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return performance.now() - startedMs;
}

/** An endpoint that asks its first caller to come back in half an hour. */
async function busyEndpoint(): Promise<{ readonly url: string; calls(): number; close(): void }> {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    if (calls === 1) response.writeHead(503, { 'retry-after': '1800' }).end();
    else response.writeHead(204).end();
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls: () => calls,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
