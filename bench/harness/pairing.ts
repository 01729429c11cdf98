import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { ControlFailure } from '../../simulator/control/control-failure.ts';
import type { SimulatorControl } from '../../tests/testbed/simulator-control.ts';
import { callAll } from '../load/http-calls.ts';
import { inParallel } from '../load/in-parallel.ts';

/** How shops are paired: how many at a time, and who gets a line of progress each half a minute. */
export interface PairingPlan {
  readonly atOnce: number;
  readonly progress: (text: string) => void;
}

/** The part of a side that pairing needs. */
interface PairingSide {
  readonly network: Pick<SimulatorControl, 'scan'>;
  readonly apiPort: number;
}

/** A shop, a key of its tenant, and the number of its phone. */
interface PairingShop {
  readonly id: string;
  readonly key: string;
  readonly phone: string;
}

/** A channel as the tenants' API shows it. */
interface Channel {
  readonly status: string;
  readonly qr?: string;
}

/** A session reports that it is open this long after its connection is. Before, it counts as closed. */
const OPENS_AFTER_MS = 1_000;
/** The least interval between two looks at a shop, and the interval that all waiting shops share. */
const LOOK_MS = 100;
const SHARED_LOOK_MS = 16;

/** A client that must wait for others may answer a scan too late. After this many scans it is stuck. */
const MOST_SCANS = 6;
/** A code that was refused is shown until the client makes the next one. */
const SCAN_AGAIN_MS = 2_000;
const SCAN_AGAIN = new Set(['CLIENT_SILENT', 'QR_EXPIRED', 'QR_UNKNOWN']);
/** How long one shop may take in all. */
const WITHIN_MS = 5 * MINUTE_MS;

const PROGRESS_MS = 30_000;

/** Pairs every shop like its owner. Rejects at the first that does not connect, with the number paired so far. */
export async function pairAll(
  side: PairingSide,
  shops: readonly PairingShop[],
  { atOnce, progress }: PairingPlan,
): Promise<void> {
  const startedMs = performance.now();
  const lookMs = Math.max(LOOK_MS, atOnce * SHARED_LOOK_MS);
  let paired = 0;
  let again = 0;
  let last = { paired, atMs: startedMs };
  const report = (): void => {
    const atMs = performance.now();
    const rate = ((paired - last.paired) * 1_000) / (atMs - last.atMs);
    const seconds = ((atMs - startedMs) / 1_000).toFixed(0);
    progress(
      `paired ${paired} of ${shops.length} after ${seconds} s, now ${rate.toFixed(1)} a second, ${again} scans repeated`,
    );
    last = { paired, atMs };
  };
  const reporting = setInterval(report, PROGRESS_MS);
  try {
    await inParallel(shops, atOnce, async (shop) => {
      try {
        again += (await pair(side, shop, lookMs)) - 1;
      } catch (error) {
        throw new Error(`shop ${shop.id} was not paired, ${paired} of ${shops.length} were`, {
          cause: error,
        });
      }
      paired += 1;
    });
  } finally {
    clearInterval(reporting);
    report();
  }
}

/** Asks for a code, scans it, and waits until the shop is connected. Resolves with the number of scans. */
async function pair(side: PairingSide, { id, key, phone }: PairingShop, lookMs: number): Promise<number> {
  const path = `/api/v1/shops/${id}/channels/msgapp/connect`;
  const ask = async (method: string): Promise<Channel> => {
    const body = method === 'POST' ? { body: {} } : {};
    const [channel] = await callAll(side.apiPort, [{ method, path, token: key, ...body }]);
    return channel as Channel;
  };
  const endsMs = performance.now() + WITHIN_MS;
  let scans = 0;
  let isScanned = false;
  let channel = await ask('POST');
  while (channel.status !== 'connected') {
    if (performance.now() > endsMs)
      throw new Error(`it is ${channel.status} ${WITHIN_MS / 1_000} s after it asked for a code`);
    if (channel.qr !== undefined && !isScanned) {
      scans += 1;
      isScanned = await isLinked(side, channel.qr, phone, scans < MOST_SCANS);
      await delay(isScanned ? OPENS_AFTER_MS : SCAN_AGAIN_MS);
    } else {
      await delay(lookMs);
    }
    channel = await ask('GET');
  }
  return scans;
}

/** Scans a code. False if the client did not answer or shows another code by now, and it may be scanned again. */
async function isLinked(
  { network }: PairingSide,
  qr: string,
  phone: string,
  mayAgain: boolean,
): Promise<boolean> {
  try {
    await network.scan(qr, phone);
    return true;
  } catch (error) {
    if (mayAgain && error instanceof ControlFailure && SCAN_AGAIN.has(error.code)) return false;
    throw error;
  }
}
