import { isSameRecipient } from '../../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../../policy/recipient.ts';
import type { Store } from '../../../../runtime/store.ts';
import { countsAsNewChat } from '../../judging/new-chats.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readWriter } from '../../reading/recipient-facts.ts';
import { readMessage, readMessages } from '../../records/message-days.ts';
import type { MessageState } from '../../records/message-record.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';
import type { CancelledPlace } from '../number/given-back.ts';
import type { AnswerFacts } from '../pool/message-at-pool.ts';

/** The facts for a cancellation. */
export interface CancelFacts {
  /** The messages to end, with their data for the windows. */
  readonly places: readonly CancelledPlace[];
  /** The stored state of the one requested message. Undefined if it is not stored. */
  readonly stored?: MessageState | undefined;
}

/** A message of the shop's own that has not ended. */
type OwnMessage = Pick<CancelledPlace, 'messageId' | 'to' | 'alias' | 'place'> & {
  readonly createdAtMs: number;
};

/** Reads the message to cancel, if it is the shop's own and has not ended. */
export async function readCancel(
  state: ShopState,
  { messageId }: CommandOf<'cancel'>,
  { store }: FactSources,
): Promise<CancelFacts> {
  const matchingMessages = ownMessages(state).filter((message) => message.messageId === messageId);
  const [places, storedMessages] = await Promise.all([
    readPlaces(state, matchingMessages, store),
    readMessage(state.shard, messageId, store),
  ]);
  return { places, stored: storedMessages?.state };
}

/** Reads the shop's own messages that match the filter and have not ended. */
export async function readCancelQueue(
  state: ShopState,
  { filter }: CommandOf<'cancel_queue'>,
  { store }: FactSources,
): Promise<CancelFacts> {
  const { idempotencyKeyPrefix: prefix, to, acceptedBeforeMs } = filter;
  const candidates = ownMessages(state).filter(
    (message) =>
      (to === undefined || isTo(message, to)) &&
      (acceptedBeforeMs === undefined || message.createdAtMs < acceptedBeforeMs),
  );
  if (prefix === undefined) return { places: await readPlaces(state, candidates, store) };
  const ids = candidates.map(({ messageId }) => messageId);
  const storedMessages = await readMessages(state.shard, ids, store);
  const messagesOfKey = candidates.filter((_, index) =>
    storedMessages[index]?.body.idempotencyKey?.startsWith(prefix),
  );
  return { places: await readPlaces(state, messagesOfKey, store) };
}

/** Returns the facts about a message that was cancelled at the pool. Reads nothing after another answer of the pool. */
export async function readCancelledAtPool(
  state: ShopState,
  { messageId, answer }: CommandOf<'pool.answered'>,
  { store }: FactSources,
): Promise<AnswerFacts> {
  if (answer.kind !== 'ended' || answer.fate.reason !== 'CANCELLED') return {};
  const pooled = state.pooled.filter((message) => message.messageId === messageId);
  const [cancelled] = await readPlaces(state, pooled, store);
  return { cancelled };
}

function ownMessages({ queue, currentMessage, pooled }: ShopState): OwnMessage[] {
  const liveMessages = currentMessage === undefined ? queue : [currentMessage, ...queue];
  const queuedMessages = liveMessages.flatMap((message) => {
    const { place } = message;
    return message.carriedFor !== undefined || place === undefined ? [] : [{ ...message, place }];
  });
  return [...queuedMessages, ...pooled];
}

function isTo({ to, alias }: Pick<OwnMessage, 'to' | 'alias'>, recipient: string): boolean {
  return isSameRecipient(to, recipient) || (alias !== undefined && isSameRecipient(alias, recipient));
}

async function readPlaces(
  state: ShopState,
  messages: readonly Pick<OwnMessage, 'messageId' | 'to' | 'alias' | 'place'>[],
  store: Store,
): Promise<CancelledPlace[]> {
  if (messages.length === 0) return [];
  const { keys } = state;
  const { cut } = state.acceptedList;
  // The pool shop counts these messages, for its own number.
  const atPool = new Set(state.pooled.map(({ messageId }) => messageId));
  const [elements, isNewChat] = await Promise.all([
    store.read(messages.map(({ place }) => ['LRANGE', keys.accepted, place - cut, place - cut])),
    Promise.all(
      messages.map(
        async ({ messageId, to }) =>
          !atPool.has(messageId) &&
          isPhoneNumber(to) &&
          countsAsNewChat(to, await readWriter(state, { to }, store)),
      ),
    ),
  ]);
  return messages.map(({ messageId, to, alias, place }, index) => ({
    messageId,
    to,
    alias,
    place,
    element: elements[index]?.[0],
    isNewChat: isNewChat[index] ?? false,
  }));
}
