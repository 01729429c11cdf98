import { contentLength } from '../message-content.ts';
import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { MessageDraft, StatusDraft } from '../shop-operations.ts';

/** The size of a draft, a recipient or a command in addition to its content. */
const OVERHEAD_BYTES = 128;

/** Returns the size of a command for the bound of its mailbox: the characters of its content, and an overhead. */
export function commandSize(command: ShopCommand): number {
  switch (command.type) {
    case 'send':
    case 'post_status':
    case 'schedule':
      return draftSize(command.draft);
    case 'create_batch':
      return recipientsSize(command) + contentLength(command.asked);
    case 'add_recipients':
      return recipientsSize(command);
    default:
      return OVERHEAD_BYTES;
  }
}

function draftSize(draft: MessageDraft | StatusDraft): number {
  const caption = 'caption' in draft ? draft.caption : undefined;
  return OVERHEAD_BYTES + (caption?.length ?? 0) + contentLength(draft);
}

function recipientsSize({ asked }: CommandOf<'create_batch' | 'add_recipients'>): number {
  let size = 0;
  for (const { fields = {} } of asked.recipients) {
    size += OVERHEAD_BYTES;
    for (const [name, value] of Object.entries(fields)) size += name.length + value.length;
  }
  return size;
}
