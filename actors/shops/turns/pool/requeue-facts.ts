import type { CommandOf } from '../../protocol/shop-commands.ts';
import { readWriter, type WriterFacts } from '../../reading/recipient-facts.ts';
import { readMessage } from '../../records/message-days.ts';
import type { MessageBody } from '../../records/message-record.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** The facts about a message that no pool shop has taken. */
export interface RequeueFacts extends WriterFacts {
  /** Undefined if its retention is over. */
  readonly body: MessageBody | undefined;
}

/** Reads the message, and its recipient's last message to the shop. */
export async function readRequeue(
  state: ShopState,
  { messageId }: CommandOf<'requeue'>,
  { store }: FactSources,
): Promise<RequeueFacts> {
  const body = (await readMessage(state.shard, messageId, store))?.body;
  return { ...(await readWriter(state, { to: body?.to ?? '' }, store)), body };
}
