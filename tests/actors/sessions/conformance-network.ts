import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  ReportedNewChats,
  ReportedRestriction,
  SessionEnd,
} from '../../../actors/sessions/session-events.ts';
import type { SendOrder, SessionAddress, SessionHost } from '../../../actors/sessions/session-host.ts';
import type { ReleasingActor } from './releasing-actor.ts';
import type { SessionLog } from './session-log.ts';

/** A host with its network behind it, as the suite drives them. */
export interface ConformanceNetwork {
  readonly host: SessionHost;
  readonly log: SessionLog;
  readonly actor: ReleasingActor;
  /** A phone scans the shop's code. */
  scan(shop: SessionAddress, qr: string, phone: string): Promise<void>;
  /** The code that the shop shows is typed on that phone. */
  typeCode(shop: SessionAddress, code: string, phone: string): Promise<void>;
  /** The network refuses the next question for a code with that status. */
  refuseCode(shop: SessionAddress, phone: string, status: number): Promise<void>;
  /** A person writes to the shop; resolves with whether a receipt went out. */
  write(shop: SessionAddress, from: string, text: string): Promise<boolean>;
  /** The stanzas of that person which the shop marked as read, by their ids. */
  markedRead(shop: SessionAddress, writer: string): Promise<readonly string[]>;
  /** The texts that number's handset received. */
  received(shop: SessionAddress, recipient: string): Promise<readonly string[]>;
  /** The number leaves the network. */
  remove(number: string): Promise<void>;
  /** Adds a number to the network, which is also found under the other form. */
  addForm(number: string, form: string): Promise<void>;
  /** The next message of the shop meets this. */
  meets(shop: SessionAddress, problem: { ackError: string } | 'no_ack'): Promise<void>;
  /** The network ends the shop's session. */
  drop(shop: SessionAddress, end: SessionEnd): Promise<void>;
  setGroup(
    shop: SessionAddress,
    group: { id: string; name: string; members: number; admin: boolean },
  ): Promise<void>;
  /** Restricts the number, or lifts the restriction, and reports it. */
  restrict(shop: SessionAddress, restriction: ReportedRestriction): Promise<void>;
  /** Gives the number a quota, and reports it. */
  limitNewChats(shop: SessionAddress, newChats: ReportedNewChats): Promise<void>;
  /** The worker behind the shop dies. */
  loseWorker(shop: SessionAddress): Promise<void>;
  stop(): Promise<void>;
}

/** The number of the shop that is paired. */
export const SHOP_PHONE = '+33611111111';
const PERSON = '+33622222222';

let shopCount = 0;

/** Returns a shop that no other test has. */
export function newShop(): SessionAddress {
  shopCount += 1;
  return { shard: 7, tenantId: 'a'.repeat(24), shopId: shopCount.toString(16).padStart(24, '0') };
}

/** Returns an order to send a text. */
export function textOrder(text: string, change: Partial<SendOrder> = {}): SendOrder {
  const id = Buffer.from(`${text}${Math.random()}`).toString('hex').slice(-24).padStart(24, '0');
  return {
    messageId: id,
    wireId: `3EB0${id.slice(-16).toUpperCase()}`,
    kind: 'message',
    to: PERSON,
    knownAs: undefined,
    text,
    mediaUrl: undefined,
    mediaType: undefined,
    audience: undefined,
    deadlineMs: 20_000,
    ...change,
  };
}

/** Opens a shop's session for the first time and pairs it. Resolves when it is connected, in generation 2. */
export async function pair(network: ConformanceNetwork, shop: SessionAddress, phone?: string): Promise<void> {
  const { host, log } = network;
  host.open(shop, { generation: 1 });
  const { qr } = await log.next(shop, 'session.qr');
  await network.scan(shop, qr, phone ?? SHOP_PHONE);
  assert.equal((await log.next(shop, 'session.closed')).end, 'restart_required');
  host.open(shop, { generation: 2 });
  await log.next(shop, 'session.connected');
}

/** Adds the test of a promise. Its body gets a network and a shop that no other test has. */
type AddPromise = (
  title: string,
  body: (network: ConformanceNetwork, shop: SessionAddress) => Promise<void>,
) => void;

/** Returns a function that adds a test about a shop that was never connected. */
export function promiseOf(name: string, start: () => Promise<ConformanceNetwork>): AddPromise {
  return (title, body) =>
    test(`${name}: ${title}`, async (context) => {
      const network = await start();
      context.after(() => network.stop());
      await body(network, newShop());
    });
}

/** Returns a function that adds a test about a connected shop. */
export function pairedPromiseOf(name: string, start: () => Promise<ConformanceNetwork>): AddPromise {
  const promise = promiseOf(name, start);
  return (title, body) =>
    promise(title, async (network, shop) => {
      await pair(network, shop);
      await body(network, shop);
    });
}
