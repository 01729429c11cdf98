import { type BinaryNode, initAuthCreds } from '@whiskeysockets/baileys';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import {
  RetryAnswers,
  type RetryAnswersOptions,
} from '../../../../actors/sessions/worker-thread/retries/retry-answers.ts';
import type { SentMessage } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { newShopMemory } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { MemoryAuth } from '../../../simulator/test-client.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

/** The only person whose number and LID are known. */
export const PERSON = '33622222222@s.whatsapp.net';
export const PERSONS_LID = '100000000000002';
const ACCOUNT = {
  details: new Uint8Array(1),
  accountSignatureKey: new Uint8Array(32),
  accountSignature: new Uint8Array(64),
  deviceSignature: new Uint8Array(64),
};

/** The registration id of all devices of this network. */
const REGISTRATION_ID = 0x010203;

/** The address that a receipt comes from. */
interface Asking {
  readonly from: string;
  readonly participant?: string;
}

/** The other fields of a retry receipt. */
interface AskedAs {
  readonly count: string;
  /** The id of the message, if it is not that of the receipt. */
  readonly messageId: string;
  readonly content: readonly BinaryNode[];
}

/** A message that was sent to the person. */
export const ONCE_MORE: SentMessage = { chat: PERSON, message: { conversation: 'once more' } };

/** Answers of a shop on a fake clock, with the stanzas that they send. The first `failures` of them fail. */
export function retryAnswers(
  options: {
    readonly failures?: number;
    /** Finds a sent message. */
    readonly sent?: RetryAnswersOptions['sentMessages'];
    readonly clock?: FakeClock;
  } = {},
) {
  const { sent = { find: async () => ONCE_MORE }, clock = new FakeClock() } = options;
  const stanzas: BinaryNode[] = [];
  const logged: string[] = [];
  /** The devices for which a new session was opened from the network's keys. */
  const opened: string[] = [];
  /** The devices for which a new session was opened from their own keys. */
  const injected: string[] = [];
  const { keys } = new MemoryAuth();
  let left = options.failures ?? 0;
  let lookUps = 0;
  const lookedUp = <Answer>(answer: Answer): Answer => {
    lookUps += 1;
    return answer;
  };
  const socket = {
    user: { id: '33611111111:2@s.whatsapp.net' },
    sendNode: async (stanza: BinaryNode) => void stanzas.push(stanza),
    signalRepository: {
      lidMapping: {
        getPNForLID: async (lid: string) => lookedUp(lid.startsWith(`${PERSONS_LID}@`) ? PERSON : null),
        getLIDForPN: async (number: string) => lookedUp(number === PERSON ? `${PERSONS_LID}:0@lid` : null),
      },
      getSessionInfo: async () => {
        left -= 1;
        if (left >= 0) throw new Error('the network sent no keys for +33622222222');
        return { baseKey: new Uint8Array(1), registrationId: REGISTRATION_ID };
      },
      injectE2ESession: async ({ jid }: { readonly jid: string }) => void injected.push(jid),
      hasSenderKey: async () => false,
      encryptMessage: async ({ data }: { readonly data: Uint8Array }) => ({ type: 'msg', ciphertext: data }),
    },
  };
  const memory = newShopMemory(clock);
  const context = fakeOf<SessionContext>({
    clock,
    timing: DEFAULT_SESSION_TIMING,
    memory,
    later: (delayMs, act) => clock.after(delayMs, act),
    log: (fields, message) =>
      void logged.push(`${JSON.stringify({ ...fields, stack: undefined })} ${message}`),
  });
  const answers = new RetryAnswers({
    context,
    socket: socket as unknown as RetryAnswersOptions['socket'],
    credentials: { creds: { ...initAuthCreds(), account: ACCOUNT }, keys },
    sentMessages: sent,
    groups: { excludes: () => false, metadata: () => undefined },
    sessions: {
      async open(devices) {
        opened.push(...devices);
        return devices;
      },
    },
    outbox: { alone: (work) => work(), isPending: () => false },
    ownAddresses: () => [],
  });
  const asked = (asker: Asking = { from: PERSON }, id = 'A', how: Partial<AskedAs> = {}): void => {
    const { count = '1', messageId = id, content = [] } = how;
    void answers.onReceipt({
      tag: 'receipt',
      attrs: { id, type: 'retry', ...asker },
      content: [{ tag: 'retry', attrs: { v: '1', count, id: messageId, t: '1' } }, ...content],
    });
  };
  return {
    clock,
    keys,
    stanzas,
    logged,
    opened,
    injected,
    memory,
    asked,
    sent: () => stanzas.map(({ tag }) => tag),
    lookUps: () => lookUps,
  };
}
