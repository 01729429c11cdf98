/**
 * A node that is asked to end first reports itself as not ready to its load balancer. It accepts requests until the
 * balancer has noticed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';

/** Long enough for a few requests on a busy machine. */
const DELAY_MS = 8_000;

const stack = sharedStack({ environment: { SHUTDOWN_DELAY_MS: String(DELAY_MS) } });

const readiness = async (): Promise<number> => (await fetch(`${stack.adminUrl()}/readyz`)).status;

test('after SIGTERM /readyz is red at once, requests are answered through the delay, and then the node hands over', async () => {
  assert.equal(await readiness(), 200);
  const startedMs = performance.now();
  let isGone = false;
  const ended = stack.end('SIGTERM').then((exitCode) => {
    isGone = true;
    return exitCode;
  });
  await until('the node says that it is not ready', async () => (await readiness()) === 503, { everyMs: 5 });
  assert.equal((await fetch(`${stack.adminUrl()}/healthz`)).status, 200);
  for (let answered = 0; answered < 6; answered += 1) {
    // Each call has a new connection, as after a look at the probe.
    const reply = await fetch(`${stack.apiUrl()}/me`, {
      headers: { authorization: `Bearer ${stack.apiKey}`, connection: 'close' },
    });
    assert.equal(reply.status, 200);
    await reply.arrayBuffer();
  }
  assert.ok(!isGone);
  assert.equal(await ended, 0);
  assert.ok(performance.now() - startedMs >= DELAY_MS);
});

test('a second SIGTERM ends the delay, and the node hands over at once', async () => {
  await stack.start();
  const startedMs = performance.now();
  const ended = stack.end('SIGTERM');
  await until('the node says that it is not ready', async () => (await readiness()) === 503, { everyMs: 5 });
  assert.equal(await stack.end('SIGTERM'), 0);
  assert.equal(await ended, 0);
  assert.ok(performance.now() - startedMs < DELAY_MS, 'the delay went on');
});
