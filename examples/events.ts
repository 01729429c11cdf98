/**
 * Prints the events, one a line. A restart continues where the last run ended.
 *
 *   API_KEY=tm_live_… npx tsx examples/events.ts /tmp/cursor
 *
 * The file contains the cursor. It is replaced after the event was handled. So a crash may handle that event twice, but
 * never skips one. The replacement is atomic. Ends with Ctrl-C.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { endedMessage } from 'tenant-messaging-client';
import { api } from './api.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: events.ts CURSOR_FILE');

function keep(place: string, cursor: string): void {
  writeFileSync(`${place}.new`, cursor);
  renameSync(`${place}.new`, place);
}

// Only the first start begins with now: the cursor is stored before the first wait.
if (!existsSync(file)) keep(file, (await api.listEvents()).data.nextCursor);
for await (const event of api.followEvents({ cursor: readFileSync(file, 'utf8') })) {
  const message = endedMessage(event);
  const subject = message === undefined ? event.data.shopId : `${message.to} ${message.idempotencyKey}`;
  console.log(`${event.type} ${subject}`);
  keep(file, event.id);
}
