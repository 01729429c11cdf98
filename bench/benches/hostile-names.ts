import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Bench, BenchContext, Run } from '../harness/bench.ts';
import { liveShops, onLiveSide, orderText } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import {
  type CallLatencies,
  figuresOfCalls,
  LEAD_MS,
  ME_PER_SECOND,
  SENDS_PER_SECOND,
  wellBehaved,
} from '../harness/well-behaved.ts';
import { type Call, callAll } from '../load/http-calls.ts';
import { fleetFor } from './compared.ts';

/** Shops of the hostile tenant, each with a session of the real client: a shop waits for one name at a time. */
const SHOPS = 10;
/** The messages that a number paired today may send in an hour. */
const MESSAGES_PER_SHOP = 10;

/**
 * Measures well-behaved tenants while all shops of another send attachments from hosts whose name server never answers.
 * They run alone, then together with it, in one process. Only that tenant's shops have the real client, which fetches.
 */
export const hostileNames: Bench = {
  name: 'hostile-names',
  title: `${ME_PER_SECOND} GET /me and ${SENDS_PER_SECOND} sends a second, beside a tenant whose attachments' names hang`,
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    for (let round = 1; round <= context.rounds; round += 1) runs.push(...(await measured(round, context)));
    return runs;
  },
};

async function measured(round: number, context: BenchContext): Promise<readonly Run[]> {
  const nameServer = createSocket('udp4');
  let asked = 0;
  nameServer.on('message', () => {
    asked += 1;
  });
  nameServer.bind(0, '127.0.0.1');
  await once(nameServer, 'listening');
  const environment = { MEDIA_NAME_SERVERS: `127.0.0.1:${nameServer.address().port}` };
  const runs: Run[] = [];
  try {
    const { directory, build } = context;
    await onLiveSide({ directory, build, gapMs: '20-60', environment }, async (side) => {
      const shops = await liveShops(side, context.setting('sessions', SHOPS));
      await side.restart(['bench/sides/mixed-service.js', ...new Set(shops.map(({ tenantId }) => tenantId))]);
      await side.untilConnected(shops.length);
      const seconds = context.seconds + LEAD_MS / 1_000;
      const otherFleet = await side.makeFleet(
        fleetFor({ messages: 2 * SENDS_PER_SECOND * seconds * 1.34, isPaused: true }),
      );
      const ports = [side.apiPort];
      const { watch } = side;
      const feel = (from: number): Promise<CallLatencies> =>
        wellBehaved({ ports, watch }, otherFleet, { seconds: context.seconds, from });
      context.progress(`hostile-names: round ${round}, alone`);
      const alone = await feel(0);
      runs.push({ side: 'alone', round, figures: figuresOfCalls(alone, alone, watch.server) });
      context.progress(`hostile-names: round ${round}, names hang`);
      const [beside] = await Promise.all([feel(alone.send.made), sendFromMuteHosts(side, shops)]);
      const figures = { ...figuresOfCalls(beside, alone, watch.server), hostileRequests: asked };
      runs.push({ side: 'names hang', round, figures });
    });
  } finally {
    nameServer.close();
  }
  if (asked === 0) throw new Error('no name was asked for, so nothing was measured');
  return runs;
}

/** Sends every shop's attachments, each from a separate host. */
async function sendFromMuteHosts(side: LiveSide, shops: readonly LiveShop[]): Promise<void> {
  const calls = Array.from({ length: MESSAGES_PER_SHOP * shops.length }, (_, turn): Call => {
    const call = orderText(shops, turn);
    const media = { mediaUrl: `http://mute-${turn}.test/file.pdf`, mediaType: 'document' };
    return { ...call, body: { ...call.body, ...media } };
  });
  await callAll(side.apiPort, calls, { connections: 4 });
}
