/** A node as service/service.ts composes it, with the sending component in memory: every shop is paired and warm. */

import { createServer } from 'node:http';
import type { SessionListener } from '../../actors/sessions/session-host.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { listening } from '../../tests/testbed/listening.ts';
import { MemorySessionHost } from '../../tests/testbed/memory-network/memory-session-host.ts';
import { watchHoldUps } from './hold-ups.ts';
import { announceNode, startNode } from './started-node.ts';

const WARM_MS = 20 * DAY_MS;

/** When sessions came up since the start, by the wall clock. */
const connectedAtMs: number[] = [];
const noting =
  (listener: SessionListener): SessionListener =>
  (shop, event) => {
    if (event.type === 'session.connected') connectedAtMs.push(Date.now());
    listener(shop, event);
  };

const holdUps = watchHoldUps();

const node = await startNode(
  ({ listener }) =>
    new MemorySessionHost({
      clock,
      listener: noting(listener),
      // Sent messages are not inspected, and a soak sends many.
      behaviour: { paired: true, pairedAgoMs: WARM_MS, remembered: 0 },
    }),
);

// Figures that only the process itself has. Started with --expose-gc, it counts the memory after a collection.
const looking = createServer((request, response) => {
  if (request.url === '/hold-ups') {
    response.end(JSON.stringify(holdUps()));
    return;
  }
  globalThis.gc?.();
  response.end(JSON.stringify({ heapBytes: process.memoryUsage().heapUsed, connectedAtMs }));
});
const port = await listening(looking);
looking.unref();
announceNode(node, `http://127.0.0.1:${port}`);
