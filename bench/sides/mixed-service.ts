/**
 * A node like that of service/service.ts. Shops of the tenants in the arguments have the real client in worker threads.
 * All others are paired and warm in memory, so a load on them is legal with any number of live sessions.
 */

import type { SessionAddress, SessionHost } from '../../actors/sessions/session-host.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { startSessions } from '../../service/start-sessions.ts';
import { MemorySessionHost } from '../../tests/testbed/memory-network/memory-session-host.ts';
import { announceNode, startNode } from './started-node.ts';

const WARM_MS = 20 * DAY_MS;
const liveTenants = new Set(process.argv.slice(2));

/** Returns one port for two sending components, chosen by tenant. */
function mixed(real: SessionHost, memory: SessionHost): SessionHost {
  const hostOf = ({ tenantId }: SessionAddress): SessionHost => (liveTenants.has(tenantId) ? real : memory);
  return {
    open: (shop, options) => hostOf(shop).open(shop, options),
    close: (shop) => hostOf(shop).close(shop),
    erase: (shop) => hostOf(shop).erase(shop),
    order: (shop, order) => hostOf(shop).order(shop, order),
    fileHosts: (shop) => hostOf(shop).fileHosts(shop),
    tryEgress: (address) => real.tryEgress(address),
    isAvailable: () => real.isAvailable(),
    figures: () => real.figures(),
    describe: (shop) => hostOf(shop).describe(shop),
    async stop() {
      await Promise.all([real.stop(), memory.stop()]);
    },
  };
}

const node = await startNode((options) =>
  mixed(
    startSessions(options),
    new MemorySessionHost({
      clock,
      listener: options.listener,
      behaviour: { paired: true, pairedAgoMs: WARM_MS },
    }),
  ),
);
announceNode(node);
