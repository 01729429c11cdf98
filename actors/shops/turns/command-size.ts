import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { MessageDraft, StatusDraft } from '../shop-operations.ts';

/** An allowance for the fields of a draft, of a recipient or of a command that are not its text. */
const OVERHEAD_BYTES = 128;

/** Returns what a command counts for in the mailbox, whose bytes are bounded: its text, and an allowance for the rest. */
export function commandSize(command: ShopCommand): number {
  switch (command.type) {
    case 'send':
    case 'post_status':
    case 'schedule':
      return draftSize(command.draft);
    case 'create_batch':
      return recipientsSize(command) + (command.asked.text?.length ?? 0);
    case 'add_recipients':
      return recipientsSize(command);
    default:
      return OVERHEAD_BYTES;
  }
}

function draftSize(draft: MessageDraft | StatusDraft): number {
  const text = 'caption' in draft ? draft.caption : draft.text;
  return OVERHEAD_BYTES + (text?.length ?? 0) + (draft.mediaUrl?.length ?? 0);
}

function recipientsSize({ asked }: CommandOf<'create_batch' | 'add_recipients'>): number {
  let size = 0;
  for (const { fields = {} } of asked.recipients) {
    size += OVERHEAD_BYTES;
    for (const [name, value] of Object.entries(fields)) size += name.length + value.length;
  }
  return size;
}
