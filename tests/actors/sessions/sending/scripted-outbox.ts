import type { AuthenticationCreds, WASocket } from '@whiskeysockets/baileys';
import { AddressGuard } from '../../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../../actors/outbound/name-lookup.ts';
import type { SendOutcome } from '../../../../actors/sessions/session-events.ts';
import type { SendOrder } from '../../../../actors/sessions/session-host.ts';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import type { Preparation } from '../../../../actors/sessions/worker-protocol.ts';
import type { GroupDirectory } from '../../../../actors/sessions/worker-thread/sending/group-directory.ts';
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
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

export const ORDER: SendOrder = {
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

/** The tenant of the shop that the orders are from. */
export const TENANT = 'tenant';

/** Returns an order of the main thread. The number is known, and composing takes no time. */
export const asked = (change: Partial<SendOrder> = {}): Preparation => {
  return { attempt: 1, order: { ...ORDER, ...change }, composingMs: 0 };
};

export const DEVICE = '33622222222@s.whatsapp.net';

/** The client's error for a socket that is closed, or closing. */
export const cut = Object.assign(new Error('Connection Closed'), { output: { statusCode: 428 } });

interface OutboxScript {
  readonly hangs?: boolean;
  /** The client finds no device when it seals the message, though there was one before. */
  readonly addressesNoOne?: boolean;
  readonly held?: boolean;
  /** Reads the timer of a chat, when the message is made. */
  readonly timerOf?: ChatTimers['of'];
  /** Answers whether a number is on the network. */
  readonly lookUp?: () => Promise<undefined>;
  readonly sendSlots?: FairSlots;
  /** The slots of the tenant for attachments. */
  readonly mediaSlots?: FairSlots;
  /** Writes a stanza to the socket, after its ciphertexts were made. */
  readonly write?: () => Promise<void>;
  /** Uploads an attachment. By default the socket ends meanwhile. */
  readonly upload?: WASocket['waUploadToServer'];
}

/**
 * Returns an outbox. Its client asks for the recipient's devices before each message, and `devices` answers. If it
 * `hangs`, it never makes a ciphertext. The client also asks for the upload host, and the socket ends meanwhile.
 */
export function scriptedOutbox({
  hangs = false,
  addressesNoOne = false,
  held = false,
  timerOf = async () => undefined,
  lookUp = async () => undefined,
  sendSlots = new FairSlots({ share: 9 }),
  mediaSlots = new FairSlots({ share: 1 }),
  write = async () => undefined,
  upload = () => Promise.reject(cut),
}: OutboxScript = {}) {
  const clock = new FakeClock();
  const devices: ((found: readonly string[] | Error | number) => void)[] = [];
  const relayed: string[] = [];
  const outcomes: SendOutcome['kind'][] = [];
  const doubts: string[] = [];
  const logged: object[] = [];
  const prepared: string[] = [];
  const stored: unknown[] = [];
  const received = new Set<string>();
  let handedOn = 0;
  const numbers = new ExpiringCache({ lifeMs: DAY_MS, maxEntries: 9, nowMs: () => clock.monotonicMs() });
  numbers.set(ORDER.to, ORDER.to);
  const socket = {
    user: { id: '33600000001@s.whatsapp.net' },
    signalRepository: { lidMapping: { getLIDForPN: async () => null, getLIDsForPNs: async () => null } },
    executeUSyncQuery: lookUp,
    sendPresenceUpdate: async () => undefined,
    waUploadToServer: upload,
    getUSyncDevices: () =>
      new Promise<readonly unknown[]>((resolve, reject) => {
        devices.push((jids) => (Array.isArray(jids) ? resolve(jids.map((jid) => ({ jid }))) : reject(jids)));
      }),
    async relayMessage(_chat: string, _message: unknown, { messageId }: { messageId: string }) {
      relayed.push(messageId);
      if (hangs) await new Promise(() => undefined);
      if (addressesNoOne) return;
      await box.storeSealed({ session: { '336.0': Uint8Array.of(1) } });
      handedOn += 1;
      await write();
    },
  };
  const memory = newShopMemory(clock);
  const context = fakeOf<SessionContext>({
    clock,
    timing: DEFAULT_SESSION_TIMING,
    shop: { shard: 1, tenantId: TENANT, shopId: 'shop' },
    memory,
    environment: fakeOf<SessionEnvironment>({
      numbers,
      sendSlots,
      media: fakeOf<MediaEnvironment>({
        guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
        resolve: nameLookup([]),
        slots: mediaSlots,
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
    isReceived: ({ order }) => received.has(order.wireId),
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
    /** Wire ids that recipients' devices reported. */
    received,
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
