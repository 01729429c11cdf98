/**
 * Prints what happens, one event a line, and goes on where it was when it is started again.
 *
 *   API_KEY=tm_live_… npx tsx examples/events.ts /tmp/cursor
 *
 * The file holds the cursor. It is replaced after the event was dealt with, so that a crash in between deals with that
 * event twice and with none never, and at once, so that a crash leaves no half of it. Ends with Ctrl-C.
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

// Only the first start begins with now: the place is kept before anything is waited for.
if (!existsSync(file)) keep(file, (await api.listEvents()).data.nextCursor);
for await (const event of api.followEvents({ cursor: readFileSync(file, 'utf8') })) {
  const message = endedMessage(event);
  const about = message === undefined ? event.data.shopId : `${message.to} ${message.idempotencyKey}`;
  console.log(`${event.type} ${about}`);
  keep(file, event.id);
}
