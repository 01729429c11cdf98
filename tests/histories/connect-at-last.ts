import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import type { ShopSurroundings } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { circumstances } from './circumstances.ts';
import type { History } from './history.ts';

/** Longer than several faults of eight seconds one after the other. */
const WITHIN_MS = 5 * MINUTE_MS;

/** The parts with which one shop connects, and which can explain a failure. */
interface Connecting {
  readonly surroundings: ShopSurroundings;
  readonly fleet: Fleet;
  readonly history: History;
  readonly tenant: string;
  readonly shop: string;
  readonly phone: string;
}

/**
 * Connects a shop as its owner does: scans each code that is shown, and asks for another one when there is none. A scan
 * is lost with a node that stops before it has stored the pairing, and another node then shows a code again. Rejects
 * after five minutes with what was tried, the channel and the actor as they are, the faults meanwhile, and log lines.
 */
export async function connectAtLast(connecting: Connecting): Promise<void> {
  const { surroundings, shop, phone } = connecting;
  const path = `/shops/${shop}/channels/msgapp/connect`;
  const begunMs = Date.now();
  const tried: string[] = [];
  const note = (note: string): void => void tried.push(`${new Date().toISOString()} ${note}`);
  let scanned = '';
  const step = async (): Promise<boolean> => {
    const { data, error } = await surroundings.api.get(path);
    if (data.status === 'connected') return true;
    if (data.status === 'qr_waiting' && data.qr !== scanned) {
      scanned = String(data.qr);
      await surroundings.network.scan(scanned, phone);
      note('scanned');
    }
    if (data.status === 'disconnected' || error !== undefined) {
      note(`asked to connect: ${error?.code ?? 'disconnected'}`);
      await surroundings.api.post(path);
    }
    return false;
  };
  const ask = () =>
    step().catch((error: Error) => {
      note(`${error.message} ${JSON.stringify(error.cause ?? '')}`);
      return false;
    });
  await until(`shop ${shop} is connected`, ask, { withinMs: WITHIN_MS }).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await whyNot(connecting, tried, begunMs)}`);
  });
}

async function whyNot(
  { surroundings, fleet, history, tenant, shop, phone }: Connecting,
  tried: readonly string[],
  begunMs: number,
): Promise<string> {
  // All at once: a question that fails while another one is awaited would end the process.
  const [channel, actor, linked] = await Promise.all([
    seen(surroundings.api.get(`/shops/${shop}/channels/msgapp`).then(({ data }) => data)),
    seen(fleet.admin.get(`/actors/${tenant}/${shop}`).then(({ data }) => data)),
    seen(
      fleet.network
        .sessions({ limit: 100 })
        .then(({ items }) => items.filter((session) => session.phone === phone)),
    ),
  ]);
  return [
    `since ${new Date(begunMs).toISOString()}:`,
    ...tried,
    `channel: ${channel}`,
    `actor: ${actor}`,
    `linked to ${phone}: ${linked}`,
    circumstances(fleet, history, { sinceMs: begunMs, about: shop }),
  ].join('\n');
}

function seen(question: Promise<unknown>): Promise<string> {
  return question.then(
    (answer) => JSON.stringify(answer),
    (error: Error) => error.message,
  );
}
