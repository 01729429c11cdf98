/**
 * Answers each message that people write to a shop once, and marks it as read.
 *
 *   API_KEY=tm_live_… npx tsx examples/inbox.ts "Demo shop" "Thank you. We will call you." /tmp/inbox-cursor
 *
 * The account must receive inbound messages (`inbound`: `events` or `texts`). The file contains the cursor. After a
 * crash the last message may be handled again. Its idempotency key is the same, so no one is answered twice. Ends with
 * Ctrl-C.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ApiError, type ReceivedMessage } from 'tenant-messaging-client';
import { api } from './api.ts';

const [shop, text, file] = process.argv.slice(2);
if (shop === undefined || text === undefined || file === undefined)
  throw new Error('usage: inbox.ts SHOP ANSWER CURSOR_FILE');

/**
 * Refusals of one message alone: the next one can still be answered. All others end the program, and a restart repeats
 * them.
 */
const PASSED_OVER = ['RECIPIENT_OPTED_OUT', 'RECIPIENT_RATE_LIMITED', 'MESSAGE_NOT_FOUND'];

function keep(place: string, cursor: string): void {
  writeFileSync(`${place}.new`, cursor);
  renameSync(`${place}.new`, place);
}

async function answer({ id, kind, from, fromId }: ReceivedMessage, words: string): Promise<string> {
  const sender = from ?? fromId;
  if (kind === 'reaction') return `passed over ${sender} reaction`;
  try {
    const { status } = await api.replyToInbound({ id, text: words, idempotencyKey: `answer-${id}` });
    await api.markInboundRead({ id });
    return `${status === 200 ? 'replayed' : 'answered'} ${sender}`;
  } catch (error) {
    if (!(error instanceof ApiError && PASSED_OVER.includes(error.code))) throw error;
    return `passed over ${sender} ${error.code}`;
  }
}

// Only the first start begins with now: the cursor is stored before the first wait.
if (!existsSync(file)) keep(file, (await api.listEvents()).data.nextCursor);
const feed = api.followEvents({ cursor: readFileSync(file, 'utf8'), shop, types: ['message.received'] });
for await (const event of feed) {
  if (event.type === 'message.received') console.log(await answer(event.data, text));
  keep(file, event.id);
}
