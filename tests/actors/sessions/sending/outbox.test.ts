/** The orders of one session, on a client that the test drives, with a fake clock. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { AuthenticationCreds, WASocket } from '@whiskeysockets/baileys';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../../actors/outbound/name-lookup.ts';
import type { SendOutcome } from '../../../../actors/sessions/session-events.ts';
import type { SendOrder } from '../../../../actors/sessions/session-host.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import type { PrepareOrder } from '../../../../actors/sessions/worker-protocol.ts';
import type { GroupDirectory } from '../../../../actors/sessions/worker-thread/sending/group-directory.ts';
import { OrderGivenUp } from '../../../../actors/sessions/worker-thread/sending/order-outcomes.ts';
import { Outbox } from '../../../../actors/sessions/worker-thread/sending/outbox.ts';
import type { SentMessages } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import type { ChatTimers } from '../../../../actors/sessions/worker-thread/shared/chat-timers.ts';
import { ExpiringCache } from '../../../../actors/sessions/worker-thread/shared/expiring-cache.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import {
  type MediaEnvironment,
  newShopMemory,
  type SessionEnvironment,
} from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { FairSlots } from '../../../../runtime/fair-slots.ts';
import { FakeClock } from '../../../runtime/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';

const ORDER: SendOrder = {
  messageId: '65f0000000000000000000aa',
  wireId: '3EB0AA',
  kind: 'message',
  to: '+33622222222',
  knownAs: undefined,
  text: 'hello',
  mediaUrl: undefined,
  mediaType: undefined,
  audience: undefined,
  deadlineMs: MINUTE_MS,
};

/** An order as the main thread gives it; the number is known, and composing takes no time. */
const asked = (change: Partial<SendOrder> = {}): PrepareOrder => {
  return { attempt: 1, order: { ...ORDER, ...change }, composingMs: 0 };
};

const DEVICE = '33622222222@s.whatsapp.net';

/** The client's error for a socket that is closed, or closing. */
const cut = Object.assign(new Error('Connection Closed'), { output: { statusCode: 428 } });

interface OutboxScript {
  readonly hangs?: boolean;
  readonly held?: boolean;
  /** Reads the timer of a chat, when the message is made. */
  readonly timerOf?: ChatTimers['of'];
  /** Answers whether a number is on the network. */
  readonly lookUp?: () => Promise<undefined>;
}

/**
 * Returns an outbox whose client asks for the recipient's devices before each message; `devices` answers those
 * questions. `hangs`: it never makes a ciphertext. The client also asks for the upload host, and its socket ends
 * meanwhile.
 */
function outbox({
  hangs = false,
  held = false,
  timerOf = async () => undefined,
  lookUp = async () => undefined,
}: OutboxScript = {}) {
  const clock = new FakeClock();
  const devices: ((found: readonly string[] | Error | number) => void)[] = [];
  const relayed: string[] = [];
  const outcomes: SendOutcome['kind'][] = [];
  const doubts: string[] = [];
  const logged: object[] = [];
  const prepared: string[] = [];
  const stored: unknown[] = [];
  let handedOn = 0;
  const numbers = new ExpiringCache({ lifeMs: DAY_MS, maxEntries: 9, nowMs: () => clock.monotonicMs() });
  numbers.set(ORDER.to, ORDER.to);
  const socket = {
    user: { id: '33600000001@s.whatsapp.net' },
    signalRepository: { lidMapping: { getLIDForPN: async () => null, getLIDsForPNs: async () => null } },
    executeUSyncQuery: lookUp,
    sendPresenceUpdate: async () => undefined,
    waUploadToServer: () => Promise.reject(cut),
    getUSyncDevices: () =>
      new Promise<readonly unknown[]>((resolve, reject) => {
        devices.push((jids) => (Array.isArray(jids) ? resolve(jids.map((jid) => ({ jid }))) : reject(jids)));
      }),
    async relayMessage(_chat: string, _message: unknown, { messageId }: { messageId: string }) {
      relayed.push(messageId);
      if (hangs) await new Promise(() => undefined);
      await box.storeSealed({ session: { '336.0': Uint8Array.of(1) } });
      handedOn += 1;
    },
  };
  const memory = newShopMemory(clock);
  const context = fakeOf<SessionContext>({
    clock,
    timing: DEFAULT_SESSION_TIMING,
    shop: { shard: 1, tenantId: 'tenant', shopId: 'shop' },
    memory,
    environment: fakeOf<SessionEnvironment>({
      numbers,
      media: fakeOf<MediaEnvironment>({
        guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
        resolve: nameLookup([]),
        slots: new FairSlots({ share: 1 }),
      }),
    }),
    report: (_order, outcome) => void outcomes.push(outcome.kind),
    prepared({ order: { messageId } }) {
      prepared.push(messageId);
      if (!held) box.transmit(messageId);
    },
    end: () => {
      doubts.push('stalled');
      box.onClosed({ comesBack: false });
    },
    log: (fields, message) => void logged.push({ ...fields, message }),
  });
  const box: Outbox = new Outbox({
    context,
    socket: socket as unknown as WASocket,
    egress: undefined,
    groups: fakeOf<GroupDirectory>({
      request: async () => undefined,
      participants: async () => [DEVICE],
      metadata: () => undefined,
    }),
    sentMessages: fakeOf<SentMessages>({ remember: async () => undefined }),
    tokens: { has: async () => false },
    readdressedIds: { set: async () => undefined },
    chatTimers: { of: timerOf },
    sessions: {
      open: async (addresses) => addresses,
      reach: async () => (await socket.getUSyncDevices()).length > 0,
    },
    credentials: {
      creds: {} as AuthenticationCreds,
      keys: {
        get: async () => ({}),
        set: async (data) => void stored.push(data),
      },
      carry: (_data, carry) => carry([]),
    },
    onUnanswered: () => doubts.push('is anybody there?'),
  });
  return {
    box,
    clock,
    memory,
    devices,
    relayed,
    outcomes,
    doubts,
    logged,
    prepared,
    stored,
    handedOn: () => handedOn,
    /** Takes an order whose recipient has a device. Resolves when the client has the message. */
    async relay(change: Partial<SendOrder> = {}): Promise<void> {
      box.prepare(asked(change));
      await clock.until(() => devices.length === 1);
      devices[0]?.([DEVICE]);
      await clock.until(() => relayed.length === 1);
    },
  };
}

test('a message goes out once its recipient has devices, and is settled by the network alone', async () => {
  const { box, clock, devices, relayed, outcomes } = outbox();
  box.prepare(asked());
  await clock.until(() => devices.length === 1);
  assert.deepEqual(relayed, []);
  devices[0]?.([DEVICE]);
  await clock.until(() => relayed.length === 1);
  assert.deepEqual(outcomes, []);
  box.onAcknowledged({ id: ORDER.wireId });
  assert.deepEqual(outcomes, ['acknowledged']);
});

for (const isStopped of [false, true]) {
  test(`a message is ${isStopped ? 'not ' : ''}kept for the next connection${isStopped ? ' if STOP came on its own' : ''}`, async () => {
    const { box, memory, outcomes, relay } = outbox();
    await relay();
    if (isStopped) box.doNotRepeat(ORDER.messageId);
    box.onClosed({ comesBack: true });
    assert.deepEqual(
      [memory.unacknowledged.isKept(ORDER.wireId), outcomes],
      isStopped ? [false, ['unknown']] : [true, []],
    );
  });
}

test('a message whose address is no longer the recipient’s fails if the network names no other', async () => {
  const { box, clock, relayed, outcomes, relay } = outbox();
  await relay();
  box.onAcknowledged({ id: ORDER.wireId, refresh_lid: 'true' });
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, relayed], [['refused'], [ORDER.wireId]]);
});

for (const isStopped of [false, true]) {
  test(`a post that reached no one is sent once more ${isStopped ? 'only if the actor allows it' : 'when the actor allows it'}`, async () => {
    const { box, clock, devices, relayed, outcomes, prepared, relay } = outbox();
    await relay({ to: '120363000000000001@g.us' });
    if (isStopped) box.doNotRepeat(ORDER.messageId);
    box.onAcknowledged({ id: ORDER.wireId, error: '421' });
    await clock.until(() => devices.length === 2);
    devices[1]?.([DEVICE]);
    await clock.until(() => (isStopped ? outcomes.length === 1 : relayed.length === 2));
    if (!isStopped) box.onAcknowledged({ id: ORDER.wireId });
    assert.deepEqual(
      [outcomes, relayed.length, prepared.length],
      isStopped ? [['refused'], 1, 1] : [['acknowledged'], 2, 2],
    );
  });
}

test('a post to a group is accepted if the network adds that one of its addresses is no longer valid', async () => {
  const { box, clock, relayed, outcomes, relay } = outbox();
  await relay({ to: '120363000000000001@g.us' });
  box.onAcknowledged({ id: ORDER.wireId, refresh_lid: 'true' });
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, relayed], [['acknowledged'], [ORDER.wireId]]);
});

test("a post to a group that may have been lost with its socket brings the group's key again the next time", async () => {
  const { box, clock, outcomes, stored, relay } = outbox();
  const to = '120363000000000001@g.us';
  await relay({ to });
  await clock.advance(1);
  assert.deepEqual(stored, []);
  box.onClosed({ comesBack: false });
  // It is in the queue of writes before the session ends.
  assert.deepEqual([outcomes, stored], [['unknown'], [{ 'sender-key-memory': { [to]: null } }]]);
});

for (const answer of ['devices', 'no devices', 'a failure'] as const) {
  test(`an order that was given up and given again is sent once, at any end of the first attempt: ${answer}`, async () => {
    const { box, clock, devices, relayed, outcomes } = outbox();
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    await clock.advance(ORDER.deadlineMs);
    assert.deepEqual(outcomes, ['unprepared']);
    box.prepare(asked());
    await clock.until(() => devices.length === 2);
    const found = answer === 'devices' ? [DEVICE] : [];
    devices[0]?.(answer === 'a failure' ? new Error('timed out') : found);
    await clock.advance(1_000);
    assert.deepEqual([relayed, outcomes], [[], ['unprepared']], 'the first try has no say any more');
    devices[1]?.([DEVICE]);
    await clock.until(() => relayed.length === 1);
    box.onAcknowledged({ id: ORDER.wireId });
    assert.deepEqual(outcomes, ['unprepared', 'acknowledged']);
  });
}

test('a socket that ends before a ciphertext was made does not fail the message, for any report of the client', async () => {
  for (const told of ['the session', 'the question'] as const) {
    const { box, clock, devices, outcomes } = outbox();
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    if (told === 'the session') box.onClosed({ comesBack: false });
    else devices[0]?.(cut);
    await clock.until(() => outcomes.length === 1);
    assert.deepEqual(outcomes, ['not_sent']);
  }
});

test('if the socket closes before an upload ends, the outcome is not_sent', async (context) => {
  const files = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'image/png' }).end('PNG'));
  const port = await listening(files);
  context.after(() => files.close());
  const { box, clock, outcomes } = outbox();
  const mediaUrl = `http://127.0.0.1:${port}/picture.png`;
  box.prepare(asked({ mediaUrl, mediaType: 'image' }));
  await until('the message has its outcome', async () => {
    await clock.advance(0);
    return outcomes.length === 1;
  });
  assert.deepEqual(outcomes, ['not_sent']);
});

test('a recipient without devices may be a server that does not answer: the try counts, and the connection is checked', async () => {
  const { box, clock, devices, outcomes, doubts } = outbox();
  box.prepare(asked());
  await clock.until(() => devices.length === 1);
  devices[0]?.([]);
  await clock.until(() => outcomes.length === 1);
  assert.deepEqual([outcomes, doubts], [['unprepared'], ['is anybody there?']]);
});

test('a defect in making a message is the outcome unprepared, and is logged once without text, numbers and keys', async () => {
  const timerOf = (to: string): never => {
    throw new TypeError(`no timer for ${to}, key ${'aB3/'.repeat(11)}: ${ORDER.text} is not "iterable"`);
  };
  const { box, clock, outcomes, logged } = outbox({ timerOf });
  box.prepare(asked());
  await clock.until(() => outcomes.length === 1);
  const [line] = logged as [{ readonly stack: string }];
  assert.deepEqual(
    [outcomes, logged],
    [
      ['unprepared'],
      [
        {
          messageId: ORDER.messageId,
          error: 'TypeError',
          cause: '',
          stack: line.stack,
          message: 'a send failed by a defect',
        },
      ],
    ],
  );
  assert.match(line.stack, /^ {4}at [^\n]*outbox\.test\.[jt]s:[^\n]*\n {4}at [^\n]*make-message\.[jt]s/);
});

test('a defect in a look-up is logged, and the message waits as before', async () => {
  const lookUp = () => Promise.reject(new TypeError('no row of 33622229999'));
  const { box, clock, outcomes, logged } = outbox({ lookUp });
  box.prepare(asked({ to: '+33622229999' }));
  await clock.until(() => outcomes.length === 1);
  const [{ messageId, cause }] = logged as [{ readonly messageId: string; readonly cause: string }];
  assert.deepEqual([outcomes, logged.length, messageId, cause], [['not_sent'], 1, ORDER.messageId, '']);
});

test('a defect in sending a message once more is logged, and an error that gives a reason is not', async () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  const sockets = ['EPIPE', 'ECONNRESET', 'ETIMEDOUT', 'WS_ERR_INVALID_OPCODE'].map(coded);
  const reasons = [cut, new OrderGivenUp(), 1006, ...sockets];
  const defects = [new Error('?'), coded('ENOENT'), coded('ENOSPC'), coded('ERR_INVALID_ARG_TYPE')];
  const cases = [...reasons.map((each) => [each, 0] as const), ...defects.map((each) => [each, 1] as const)];
  for (const [error, lines] of cases) {
    const { box, clock, devices, outcomes, logged, relay } = outbox();
    await relay({ to: '120363000000000001@g.us' });
    box.onAcknowledged({ id: ORDER.wireId, error: '421' });
    await clock.until(() => devices.length === 2);
    devices[1]?.(error);
    await clock.until(() => outcomes.length === 1);
    assert.deepEqual([outcomes, logged.length], [['unknown'], lines], String(error));
  }
});

test('a message over which the client hangs counts as tried, though its session ends with it', async () => {
  const { clock, outcomes, doubts, relay } = outbox({ hangs: true });
  await relay();
  await clock.advance(ORDER.deadlineMs);
  assert.deepEqual([outcomes, doubts], [['unprepared'], ['stalled']]);
});

test('a prepared message waits for its release; if it is given again, or recalled, its ciphertexts are never sent', async () => {
  for (const end of ['released', 'recalled', 'given once more'] as const) {
    const { box, clock, devices, outcomes, prepared, handedOn } = outbox({ held: true });
    box.prepare(asked());
    await clock.until(() => devices.length === 1);
    devices[0]?.([DEVICE]);
    await clock.until(() => prepared.length === 1);
    assert.deepEqual([handedOn(), outcomes], [0, []]);
    if (end === 'released') {
      box.transmit(ORDER.messageId);
      await clock.until(() => handedOn() === 1);
      box.recall(ORDER.messageId);
      box.prepare(asked());
      assert.deepEqual([outcomes, devices.length], [[], 1], 'it may have left');
      continue;
    }
    if (end === 'recalled') {
      box.recall(ORDER.messageId);
    } else {
      box.prepare(asked());
      await clock.until(() => devices.length === 2);
      devices[1]?.([DEVICE]);
      await clock.until(() => prepared.length === 2);
    }
    box.transmit(end === 'recalled' ? ORDER.messageId : 'another');
    await clock.advance(1);
    assert.deepEqual([handedOn(), outcomes], [0, []]);
  }
});

test('the session’s own work that does not end ends the session, since all orders wait for it', async () => {
  const { box, clock, doubts } = outbox();
  void box.alone(() => new Promise(() => undefined));
  box.alone(async () => undefined).catch(() => undefined);
  await clock.advance(60_000);
  assert.equal(doubts.filter((doubt) => doubt === 'stalled').length, 1);
});

test('the end of a session’s own tasks does not end the session', async () => {
  const { box, clock, doubts } = outbox();
  await box.alone(async () => undefined);
  await assert.rejects(box.alone(() => Promise.reject(new Error('no keys'))));
  await clock.advance(120_000);
  assert.deepEqual(doubts, []);
});
