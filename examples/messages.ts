/**
 * Lists the messages of a shop, newest first, one a line.
 *
 *   API_KEY=tm_live_… npx tsx examples/messages.ts "Demo shop" failed
 *
 * A page behind a filter may be short or empty and still have a cursor: only `nextCursor: null` is the end.
 */
import { callAgain } from './api.ts';

interface Page {
  readonly items: readonly { readonly id: string; readonly status: string; readonly to: string | null }[];
  readonly nextCursor: string | null;
}

const [shop, status] = process.argv.slice(2);
if (shop === undefined) throw new Error('usage: messages.ts SHOP [STATUS]');

const query = new URLSearchParams({ limit: '100', ...(status === undefined ? {} : { status }) });
for (let cursor: string | null = ''; cursor !== null; ) {
  if (cursor !== '') query.set('cursor', cursor);
  const path: string = `/shops/${encodeURIComponent(shop)}/messages?${query}`;
  const { data }: { data: Page } = await callAgain<Page>('GET', path);
  for (const message of data.items) console.log(`${message.id} ${message.status} ${message.to ?? '-'}`);
  cursor = data.nextCursor;
}
