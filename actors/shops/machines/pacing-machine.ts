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
 * Until `sending` a message is still `queued`. `put_back` puts it back into the queue, before all later ones, and
 * recalls it from the session. This happens if the session ended, the tenant or its batch may not send now, or the node
 * stops. A deadline that passes does the same, and a gap follows. So does `taken_back`: a STOP came while a status was
 * prepared, and it is prepared again without that person.
 *
 * In `sending` only an outcome or the deadline ends the message's progress. After the deadline the message fails with
 * DELIVERY_UNKNOWN, and after the outcome `restarted` with BOT_RESTARTED, since no message may be sent twice. The
 * outcomes `not_sent` and `rate_limited` put the message back each time. `unprepared` does so four times. The fifth
 * time, the message fails with SEND_REFUSED. The network may have no keys for the recipient, or not say whether keys
 * exist, and other messages wait behind this one.
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
  /** Null if there is none. Stored as `hand` (`shop-machines.ts`). */
  readonly currentMessage: CurrentMessage | null;
  /** The end of a state with a time limit: gap, pause, or the deadline of preparing and sending. */
  readonly untilMs: number | null;
  readonly heldByOperator: boolean;
  /** The length of the last pause. Absent if there was none, or 0.1.0 stored it. */
  readonly pausedForMs?: number;
  /**
   * The last message that could not be prepared and was put back, and the number of times. Absent if there is none.
   * Stored as `unsent`.
   */
  readonly unprepared?: { readonly messageId: string; readonly times: number };
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

/** After this many attempts that end as `unprepared`, a message fails. */
const UNPREPARED_TRIES = 5;

const FAILURE_REASONS: { readonly [Kind in SendOutcome['kind']]?: MessageReason } = {
  not_on_network: 'RECIPIENT_NOT_ON_MSGAPP',
  refused: 'SEND_REFUSED',
  unprepared: 'SEND_REFUSED',
  media_unavailable: 'MEDIA_UNAVAILABLE',
  unknown: 'DELIVERY_UNKNOWN',
  restarted: 'BOT_RESTARTED',
};

const currentMessageOf = ({ context, event }: Arguments): CurrentMessage => {
  const message = event.type === 'dispatch' ? event.message : context.currentMessage;
  if (message === null) throw new Error('pacing: no current message');
  return message;
};

const timesUnprepared = ({ currentMessage, unprepared }: PacingContext): number =>
  unprepared !== undefined && unprepared.messageId === currentMessage?.messageId ? unprepared.times : 0;

const settlementOf = ({ context, event }: Arguments): Settlement => {
  const { messageId, startsChat } = currentMessageOf({ context, event });
  const reason = reasonOf(event);
  if (startsChat !== true) return { messageId, reason };
  return { messageId, reason, newChat: POSSIBLY_SENT_ENDS.includes(reason) ? 'used' : 'unused' };
};

const reasonOf = (event: PacingEvent): MessageReason | null => {
  if (event.type === 'blocked') return event.reason;
  if (event.type !== 'outcome') return 'DELIVERY_UNKNOWN';
  if (event.outcome.kind === 'acknowledged') return null;
  return FAILURE_REASONS[event.outcome.kind] ?? 'DELIVERY_UNKNOWN';
};

/** The ends of a message on the wire with which the network may have it. */
const POSSIBLY_SENT_ENDS: readonly (MessageReason | null)[] = [null, 'DELIVERY_UNKNOWN', 'BOT_RESTARTED'];

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
      event.type === 'dispatch' ? { currentMessage: event.message, untilMs: event.untilMs } : {},
    ),
    putOnWire: assign(({ context, event }) => {
      if (event.type !== 'prepared') return {};
      const { untilMs, startsChat } = event;
      return startsChat
        ? { untilMs, currentMessage: { ...currentMessageOf({ context, event }), startsChat } }
        : { untilMs };
    }),
    clearMessage: assign({ currentMessage: null, untilMs: null }),
    startGap: assign(({ event }) => ({
      currentMessage: null,
      untilMs: 'gapUntilMs' in event ? event.gapUntilMs : null,
    })),
    startPause: assign(({ event }) => ({
      currentMessage: null,
      untilMs: 'pauseUntilMs' in event ? event.pauseUntilMs : null,
      ...('pausedForMs' in event ? { pausedForMs: event.pausedForMs } : {}),
    })),
    countUnprepared: assign(({ context, event }) => ({
      unprepared: {
        messageId: currentMessageOf({ context, event }).messageId,
        times: timesUnprepared(context) + 1,
      },
    })),
    pauseByOperator: assign({ heldByOperator: true }),
    resumeByOperator: assign({ heldByOperator: false }),
  },
  guards: {
    wasNotOnNetwork: ({ event }) => (event as OutcomeEvent).outcome.kind === 'not_on_network',
    wasRateLimited: ({ event }) => (event as OutcomeEvent).outcome.kind === 'rate_limited',
    wasNotSent: ({ event }) => (event as OutcomeEvent).outcome.kind === 'not_sent',
    mayTryAgain: ({ context, event }) =>
      (event as OutcomeEvent).outcome.kind === 'unprepared' &&
      timesUnprepared(context) < UNPREPARED_TRIES - 1,
  },
});

const look = { type: 'first_look', params: currentMessageOf } as const;
const store = { type: 'store_sending', params: currentMessageOf } as const;
const settle = { type: 'settle', params: settlementOf } as const;
const back = { type: 'put_back', params: currentMessageOf } as const;
const recall = { type: 'recall', params: currentMessageOf } as const;
/**
 * The states that an outcome leads to. An outcome of a message that is not on the wire says why the session could not
 * prepare the message.
 */
const onOutcome = [
  { guard: 'wasRateLimited', target: 'paused', actions: [back, 'startPause'] },
  { guard: 'wasNotSent', target: 'gap', actions: [back, 'startGap'] },
  { guard: 'mayTryAgain', target: 'gap', actions: [back, 'countUnprepared', 'startGap'] },
  { target: 'gap', actions: [settle, 'startGap'] },
] as const;
/** A message before the wire waits in the queue again, and the next one waits for a gap. */
const backWithGap = { target: 'gap', actions: [back, recall, 'startGap'] } as const;
const pausedBefore = { target: 'paused', actions: 'startPause' } as const;

/** The pacing states and transitions, as in the table above. */
export const pacingMachine = pacingSetup.createMachine({
  id: 'pacing',
  context: { currentMessage: null, untilMs: null, heldByOperator: false },
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
