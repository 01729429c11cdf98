/** Removes a cancelled message from the counts of a number's windows, because nothing of it left. */
import { decodeEntry, type LedgerEntry } from '../../../../policy/ledger-entry.ts';
import { recipientKey } from '../../../../policy/number-forms.ts';
import { isPhoneNumber } from '../../../../policy/recipient.ts';
import { entryTextOf, messageIdOf } from '../../state/accepted-list.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { uncountNewChat } from './reported-limits.ts';

/** A cancelled message, with the known facts about it. */
export interface CancelledPlace {
  readonly messageId: string;
  readonly to: string;
  readonly alias?: string | undefined;
  /** Its position in the shop's list. */
  readonly place: number;
  /** The element at that position. */
  readonly element: string | undefined;
  /** True if it would count as a new chat now. */
  readonly isNewChat: boolean;
}

/** Removes the counts of a message of the shop itself. The list keeps its id. */
export function giveBack(builder: TurnBuilder, cancelled: CancelledPlace): void {
  const { messageId, place, element, isNewChat } = cancelled;
  // The element was cut, or no longer counts.
  if (element === undefined || messageIdOf(element) !== messageId) return;
  const text = entryTextOf(element);
  if (text === '') return;
  const { keys, acceptedList } = builder.state;
  builder.write(['LSET', keys.accepted, place - acceptedList.cut, messageId]);
  takeBack(builder, decodeEntry(text), cancelled);
  if (isNewChat) uncountNewChat(builder);
}

/**
 * Removes the counts of another shop's message here. `fromEnd`: the position of its entry in the list, from the end.
 */
export function giveBackCarried(
  builder: TurnBuilder,
  carriedMessage: Pick<CancelledPlace, 'to' | 'alias'> & {
    readonly entryText: string;
    readonly fromEnd: number;
  },
): void {
  builder.write(['LSET', builder.state.keys.accepted, carriedMessage.fromEnd, '']);
  takeBack(builder, decodeEntry(carriedMessage.entryText), carriedMessage);
}

function takeBack(
  builder: TurnBuilder,
  entry: LedgerEntry,
  { to, alias }: Pick<CancelledPlace, 'to' | 'alias'>,
): void {
  const numbers = alias === undefined ? [to] : [to, alias];
  const subjects = numbers.filter(isPhoneNumber).map(recipientKey);
  builder.onCommitted(() => builder.state.ledger.takeBack(entry, subjects));
}
