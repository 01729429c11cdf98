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

/** A host and the network behind it, with the acts of the suite on both. */
export interface ConformanceNetwork {
  readonly host: SessionHost;
  readonly log: SessionLog;
  readonly actor: ReleasingActor;
  /** Lets a phone scan the shop's code. */
  scan(shop: SessionAddress, qr: string, phone: string): Promise<void>;
  /** Types the code that the shop shows on that phone. */
  typeCode(shop: SessionAddress, code: string, phone: string): Promise<void>;
  /** Lets the network refuse the next query for a code with that status. */
  refuseCode(shop: SessionAddress, phone: string, status: number): Promise<void>;
  /** Lets a person write to the shop. Resolves with true if the shop sent a receipt. */
  write(shop: SessionAddress, from: string, text: string): Promise<boolean>;
  /** Returns the ids of that person's stanzas which the shop marked as read. */
  markedRead(shop: SessionAddress, writer: string): Promise<readonly string[]>;
  /** Returns the texts that the handset of that number received. */
  received(shop: SessionAddress, recipient: string): Promise<readonly string[]>;
  /** Removes the number from the network. */
  remove(number: string): Promise<void>;
  /** Adds a number to the network. It is also found under its other form. */
  addForm(number: string, form: string): Promise<void>;
  /** Lets the next message of the shop meet this fault. */
  meets(shop: SessionAddress, problem: { ackError: string } | 'no_ack'): Promise<void>;
  /** Lets the network end the shop's session. */
  drop(shop: SessionAddress, end: SessionEnd): Promise<void>;
  setGroup(
    shop: SessionAddress,
    group: { id: string; name: string; members: number; admin: boolean },
  ): Promise<void>;
  /** Restricts the number, or lifts the restriction, and reports it. */
  restrict(shop: SessionAddress, restriction: ReportedRestriction): Promise<void>;
  /** Gives the number a quota, and reports it. */
  limitNewChats(shop: SessionAddress, newChats: ReportedNewChats): Promise<void>;
  /** Kills the worker that runs the shop's session. */
  loseWorker(shop: SessionAddress): Promise<void>;
  stop(): Promise<void>;
}

/** The number to which the shop is paired. */
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
