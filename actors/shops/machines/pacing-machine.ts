/**
 * The pacing of a shop's queue: one message at a time (docs/contract.md, Enforced in the sending component).
 *
 * | State     | What it means                                      | Leaves on                                        |
 * |-----------|----------------------------------------------------|--------------------------------------------------|
 * | idle      | no message in progress                             | dispatch → preparing; rate_limited_before → paused |
 * | preparing | the session looks the recipient up, shows composing, fetches the attachment, devices and keys, and seals | prepared → sending; blocked → idle (settled); put_back → idle; outcome → idle (not on the network), else as from sending; elapsed, taken_back → gap; rate_limited_before → paused |
 * | sending   | on the wire, stored as `sending` before, with the steps of the ratchets that sealed it | outcome → gap, paused (rate signal); elapsed → gap (settled) |
 * | gap       | the random 6–20 s between two sends                | elapsed → idle; rate_limited_before → paused     |
 * | paused    | at least 15 minutes after a rate signal            | elapsed → idle; rate_limited_before → paused     |
 *
 * Until `sending` a message is still `queued`. `put_back` puts it back at the head of the queue and recalls it from the
 * session. This happens if the session ended, the tenant or its batch may not send now, or the node stops. A deadline
 * that passes does the same, and a gap follows. So does `taken_back`: a STOP came while a status was prepared, and it
 * is prepared once more without that person.
 *
 * In `sending` only an outcome or the deadline ends its progress. The deadline fails it DELIVERY_UNKNOWN, and
 * `restarted` fails it BOT_RESTARTED, since no message may be sent twice. The outcomes `not_sent` and `rate_limited`
 * put it back each time. `unprepared` does so four times, and the fifth fails it SEND_REFUSED. The network may have no
 * keys for its recipient, or not say whether they exist, and other messages wait behind it.
 *
 * `pause` and `resume` begin and end an operator's pause, during which nothing is dispatched. A message that is being
 * prepared at its start is put back.
 *
 * The pause after a rate signal follows a number to the shop that connects it next (`rate_limited_before`).
 */

import { assign, setup } from 'xstate';
import type { MessageReason } from '../../message-status.ts';
import type { SendOutcome } from '../../sessions/session-events.ts';

export interface CurrentMessage {
  readonly messageId: string;
  readonly kind: 'message' | 'status';
  /** E.164, the network's own id of a person, a group id, or empty for a status. */
  readonly to: string;
  /** True once it is on the wire to a person without a chat. Absent if it starts no chat. */
  readonly startsChat?: boolean;
}

/** The context of the pacing machine. The part that outlasts a process is stored (`shop-machines.ts`). */
export interface PacingContext {
  /** Stored under this name: the current message. Null if there is none. */
  readonly hand: CurrentMessage | null;
  /** The end of a state with a time limit: gap, pause, or the deadline of preparing and sending. */
  readonly untilMs: number | null;
  readonly heldByOperator: boolean;
  /** The length of the last pause. Absent if there was none, or 0.1.0 stored it. */
  readonly pausedForMs?: number;
  /** The last message that was put back unsent, and the number of times. Absent if there is none. */
  readonly unsent?: { readonly messageId: string; readonly times: number };
}

/** The final state of a message that is no longer in progress. */
export interface Settlement {
  readonly messageId: string;
  /** Null if it was sent. */
  readonly reason: MessageReason | null;
  /** Set for a message that would start a chat. `used`: the network may have it. `unused`: the network refused it. */
  readonly newChat?: 'used' | 'unused';
}

/** The events of the pacing machine. `untilMs`: the end of the state that follows. */
export type PacingEvent =
  | { readonly type: 'dispatch'; readonly message: CurrentMessage; readonly untilMs: number }
  | { readonly type: 'prepared'; readonly untilMs: number; readonly startsChat?: boolean }
  | { readonly type: 'blocked'; readonly reason: MessageReason }
  | {
      readonly type: 'outcome';
      readonly outcome: SendOutcome;
      readonly gapUntilMs: number;
      readonly pauseUntilMs: number;
      readonly pausedForMs?: number;
    }
  /** Whatever the reason, a message that is not on the wire waits in the queue again. Ignored in other states. */
  | { readonly type: 'put_back' }
  /**
   * The network asked the shop's number to pause. It reported this to another shop, or about a message that is no
   * longer in progress. Ignored while a message is on the wire.
   */
  | { readonly type: 'rate_limited_before'; readonly pauseUntilMs: number; readonly pausedForMs?: number }
  | { readonly type: 'elapsed'; readonly gapUntilMs: number }
  /** A person who may no longer see the status that is being prepared sent STOP. Ignored in other states. */
  | { readonly type: 'taken_back'; readonly gapUntilMs: number }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' };

export type PacingEffect =
  | { readonly type: 'first_look'; readonly params: CurrentMessage }
  | { readonly type: 'store_sending'; readonly params: CurrentMessage }
  | { readonly type: 'recall'; readonly params: CurrentMessage }
  | { readonly type: 'settle'; readonly params: Settlement }
  | { readonly type: 'put_back'; readonly params: CurrentMessage };

type OutcomeEvent = Extract<PacingEvent, { type: 'outcome' }>;
interface Arguments {
  readonly context: PacingContext;
  readonly event: PacingEvent;
}

/** With so many attempts that end as `unprepared`, a message fails. */
const UNSENT_TRIES = 5;

const failureReasons: { readonly [Kind in SendOutcome['kind']]?: MessageReason } = {
  not_on_network: 'RECIPIENT_NOT_ON_MSGAPP',
  refused: 'SEND_REFUSED',
  unprepared: 'SEND_REFUSED',
  media_unavailable: 'MEDIA_UNAVAILABLE',
  unknown: 'DELIVERY_UNKNOWN',
  restarted: 'BOT_RESTARTED',
};

const currentMessage = ({ context, event }: Arguments): CurrentMessage => {
  const hand = event.type === 'dispatch' ? event.message : context.hand;
  if (hand === null) throw new Error('pacing: no current message');
  return hand;
};

const timesUnsent = ({ context: { hand, unsent } }: { readonly context: PacingContext }): number =>
  unsent !== undefined && unsent.messageId === hand?.messageId ? unsent.times : 0;

const settlementOf = ({ context, event }: Arguments): Settlement => {
  const { messageId, startsChat } = currentMessage({ context, event });
  const reason = reasonOf(event);
  if (startsChat !== true) return { messageId, reason };
  return { messageId, reason, newChat: mayHaveLeft.includes(reason) ? 'used' : 'unused' };
};

const reasonOf = (event: PacingEvent): MessageReason | null => {
  if (event.type === 'blocked') return event.reason;
  if (event.type !== 'outcome') return 'DELIVERY_UNKNOWN';
  if (event.outcome.kind === 'acknowledged') return null;
  return failureReasons[event.outcome.kind] ?? 'DELIVERY_UNKNOWN';
};

/** The ends of a message on the wire with which the network may have it. */
const mayHaveLeft: readonly (MessageReason | null)[] = [null, 'DELIVERY_UNKNOWN', 'BOT_RESTARTED'];

// Effects are data: the shop's turn carries them out, so the machine's own actions are empty.
const withMessage = (_: unknown, _message: CurrentMessage): void => undefined;
const withSettlement = (_: unknown, _settlement: Settlement): void => undefined;

const pacingSetup = setup({
  types: { context: {} as PacingContext, events: {} as PacingEvent },
  actions: {
    first_look: withMessage,
    store_sending: withMessage,
    recall: withMessage,
    settle: withSettlement,
    put_back: withMessage,
    take: assign(({ event }) =>
      event.type === 'dispatch' ? { hand: event.message, untilMs: event.untilMs } : {},
    ),
    putOnWire: assign(({ context, event }) => {
      if (event.type !== 'prepared') return {};
      const { untilMs, startsChat } = event;
      return startsChat
        ? { untilMs, hand: { ...currentMessage({ context, event }), startsChat } }
        : { untilMs };
    }),
    clearMessage: assign({ hand: null, untilMs: null }),
    startGap: assign(({ event }) => ({
      hand: null,
      untilMs: 'gapUntilMs' in event ? event.gapUntilMs : null,
    })),
    startPause: assign(({ event }) => ({
      hand: null,
      untilMs: 'pauseUntilMs' in event ? event.pauseUntilMs : null,
      ...('pausedForMs' in event ? { pausedForMs: event.pausedForMs } : {}),
    })),
    countUnsent: assign(({ context, event }) => ({
      unsent: {
        messageId: currentMessage({ context, event }).messageId,
        times: timesUnsent({ context }) + 1,
      },
    })),
    pauseByOperator: assign({ heldByOperator: true }),
    resumeByOperator: assign({ heldByOperator: false }),
  },
  guards: {
    wasNotOnNetwork: ({ event }) => (event as OutcomeEvent).outcome.kind === 'not_on_network',
    wasRateLimited: ({ event }) => (event as OutcomeEvent).outcome.kind === 'rate_limited',
    wasWithoutSession: ({ event }) => (event as OutcomeEvent).outcome.kind === 'not_sent',
    mayTryAgain: ({ context, event }) =>
      (event as OutcomeEvent).outcome.kind === 'unprepared' && timesUnsent({ context }) < UNSENT_TRIES - 1,
  },
});

const look = { type: 'first_look', params: currentMessage } as const;
const store = { type: 'store_sending', params: currentMessage } as const;
const settle = { type: 'settle', params: settlementOf } as const;
const back = { type: 'put_back', params: currentMessage } as const;
const recall = { type: 'recall', params: currentMessage } as const;
/** The states that an outcome leads to. Before the wire it is the reason why the message could not be prepared. */
const onOutcome = [
  { guard: 'wasRateLimited', target: 'paused', actions: [back, 'startPause'] },
  { guard: 'wasWithoutSession', target: 'gap', actions: [back, 'startGap'] },
  { guard: 'mayTryAgain', target: 'gap', actions: [back, 'countUnsent', 'startGap'] },
  { target: 'gap', actions: [settle, 'startGap'] },
] as const;
/** A message before the wire waits in the queue again, and the next one waits for a gap. */
const backWithGap = { target: 'gap', actions: [back, recall, 'startGap'] } as const;
const pausedBefore = { target: 'paused', actions: 'startPause' } as const;

/** The pacing states and transitions, as in the table above. */
export const pacingMachine = pacingSetup.createMachine({
  id: 'pacing',
  context: { hand: null, untilMs: null, heldByOperator: false },
  initial: 'idle',
  on: {
    pause: { actions: 'pauseByOperator' },
    resume: { actions: 'resumeByOperator' },
  },
  states: {
    idle: {
      on: {
        dispatch: { target: 'preparing', actions: ['take', look] },
        rate_limited_before: pausedBefore,
      },
    },
    preparing: {
      on: {
        prepared: { target: 'sending', actions: ['putOnWire', store] },
        blocked: { target: 'idle', actions: [settle, recall, 'clearMessage'] },
        put_back: { target: 'idle', actions: [back, recall, 'clearMessage'] },
        rate_limited_before: { target: 'paused', actions: [back, recall, 'startPause'] },
        outcome: [
          { guard: 'wasNotOnNetwork', target: 'idle', actions: [settle, 'clearMessage'] },
          ...onOutcome,
        ],
        elapsed: backWithGap,
        taken_back: backWithGap,
      },
    },
    sending: {
      on: {
        outcome: onOutcome,
        elapsed: { target: 'gap', actions: [settle, 'startGap'] },
      },
    },
    gap: { on: { elapsed: { target: 'idle', actions: 'clearMessage' }, rate_limited_before: pausedBefore } },
    paused: {
      on: { elapsed: { target: 'idle', actions: 'clearMessage' }, rate_limited_before: pausedBefore },
    },
  },
});

export type PacingStateName = 'idle' | 'preparing' | 'sending' | 'gap' | 'paused';
