import { setTimeout as delay } from 'node:timers/promises';
import type { LiveProgram } from '../../harness/live-node.ts';
import { liveShops } from '../../harness/live-shops.ts';
import { startLiveSide } from '../../harness/live-side.ts';
import { repliesOf, throughTheWire } from '../../harness/through-the-wire.ts';
import { callAll } from '../../load/http-calls.ts';
import { requestBytes } from '../../load/request-bytes.ts';
import type { Driver, Gateway, Place, Sent } from './driver.ts';
import { NEW_PROCESS_MS } from './tables.ts';

const PACED: LiveProgram = ['bench/sides/paced-service.js'];
const UNPACED: LiveProgram = ['bench/sides/paced-service.js', '--composing-ms=0'];
const GAP_MS = { least: 1, most: 2 };

/** The service of this repository, as `npm start` runs it. */
export const thisService: Driver = {
  name: 'this service',
  start,
};

async function start({ directory }: Place, sessions: number): Promise<Gateway> {
  const gapMs = `${GAP_MS.least}-${GAP_MS.most}`;
  // It logs each call, as the peer does.
  const environment = { LOG_LEVEL: 'info' };
  const side = await startLiveSide({ directory, gapMs, program: PACED, environment });
  const startedMs = performance.now();
  const shops = await liveShops(side, sessions);
  const pairAllMs = performance.now() - startedMs;
  const taken: { id: string; token: string }[] = [];
  let sent = 0;
  let each = 0;
  const restartAs = async (program: LiveProgram): Promise<void> => {
    await side.restart(program);
    await side.untilConnected(sessions);
    await delay(NEW_PROCESS_MS);
  };
  const wave = async (count: number, composingMs: number | undefined, word: string): Promise<Sent> => {
    each = count;
    const pace = { gapMs: GAP_MS, composingMs };
    const figures = await throughTheWire(side, { shops, each, pace, word, from: sent });
    return { messages: count * shops.length, perSecond: figures.middlePerSecond ?? Number.NaN };
  };
  return {
    network: side.network,
    phones: shops.map(({ phone }) => phone),
    get watch() {
      return side.watch;
    },
    pairAllMs,
    waves: [
      {
        name: 'through the queue, composing as in production',
        send: (count) => wave(count, undefined, ''),
      },
      {
        name: 'through the queue, composing and gap near 0, first contacts',
        async prepare() {
          sent += each * shops.length;
          await restartAs(UNPACED);
        },
        send: (count) => wave(count, 0, ''),
      },
      {
        name: 'the same, chats known by a reply',
        async prepare() {
          await repliesOf(side, shops, each, sent);
        },
        send: (count) => wave(count, 0, ' Still.'),
      },
    ],
    calls: {
      cheapestGet: () => ({
        port: side.apiPort,
        bytes: requestBytes({ method: 'GET', path: '/api/v1/me', token: shops[0]?.key ?? '' }),
      }),
      async send({ phone, to, text, key }) {
        const { id, key: token } = shops[phone] as (typeof shops)[number];
        const body = { channel: 'msgapp', to, text, idempotencyKey: key };
        const call = { method: 'POST', path: `/api/v1/shops/${id}/messages`, token, body };
        const [answer] = (await callAll(side.apiPort, [call])) as { id: string }[];
        if (answer !== undefined) taken.push({ id: answer.id, token });
        return true;
      },
      async settled() {
        let failed = 0;
        for (const { id, token } of taken.splice(0)) {
          for (;;) {
            const call = { method: 'GET', path: `/api/v1/messages/${id}`, token };
            const [message] = (await callAll(side.apiPort, [call])) as { status: string }[];
            if (message?.status === 'failed') failed += 1;
            if (['sent', 'failed', 'rejected'].includes(message?.status ?? '')) break;
            await delay(200);
          }
        }
        return failed;
      },
    },
    async restart(signal) {
      await side.restart(PACED, signal);
    },
    stop: () => side.stop(),
  };
}
