import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readWriter, type WriterFacts } from '../../reading/recipient-facts.ts';
import { type CarriedRecord, readCarried } from '../../records/carried-message.ts';
import { allThatCount, newestRead } from '../../state/newest-accepted.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** The facts of a shop of the pool about the message of a request. */
export interface CarryFacts extends WriterFacts {
  /** The message's record in this shard; undefined if there is none. */
  readonly record: CarriedRecord | undefined;
  readonly hasWorker: boolean;
  /** For a cancelled message: the position of its entry in the shop's list, from the end. Absent if there is none. */
  readonly entryFromEnd?: number | undefined;
}

type PoolCommand = CommandOf<'pool.offer' | 'pool.take' | 'pool.withdraw'>;

/** Reads the facts for the turn on a request of another shop. */
export async function readCarry(
  state: ShopState,
  command: PoolCommand,
  { store, hasWorker, nowMs }: FactSources,
): Promise<CarryFacts> {
  const { messageId, to } = subjectOf(state, command);
  const [[record], writer] = await Promise.all([
    readCarried(state.shard, [messageId], store),
    readWriter(state, { to }, store),
  ]);
  const facts = { ...writer, record, hasWorker: hasWorker() };
  if (command.type !== 'pool.withdraw' || command.reason !== 'CANCELLED') return facts;
  return { ...facts, entryFromEnd: await readEntryPlace(state, record?.entryText, { store, nowMs }) };
}

/**
 * Returns the position of a carried message's entry in the shop's list, from the end. Undefined if it no longer counts.
 */
async function readEntryPlace(
  { keys }: ShopState,
  entryText: string | undefined,
  { store, nowMs }: Pick<FactSources, 'store' | 'nowMs'>,
): Promise<number | undefined> {
  if (entryText === undefined) return undefined;
  const [newestPart] = await store.read([newestRead(keys.accepted)]);
  const elements = await allThatCount(keys.accepted, newestPart, { store, nowMs });
  const index = elements.lastIndexOf(entryText);
  return index === -1 ? undefined : index - elements.length;
}

/** Returns the message of a request and its recipient. A withdrawn message that is not here has none. */
function subjectOf(
  { queue, currentMessage }: ShopState,
  command: PoolCommand,
): { readonly messageId: string; readonly to: string } {
  if (command.type === 'pool.offer')
    return { messageId: command.offer.messageId ?? '', to: command.offer.to };
  if (command.type === 'pool.withdraw') {
    const { messageId } = command;
    const here = [currentMessage, ...queue].find((message) => message?.messageId === messageId);
    return { messageId, to: here?.to ?? '' };
  }
  return { messageId: command.body.id, to: command.body.to ?? '' };
}
