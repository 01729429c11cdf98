/**
 * Lists the messages of a shop, newest first, one a line.
 *
 *   API_KEY=tm_live_… npx tsx examples/messages.ts "Demo shop" failed
 */
import type { Message } from 'tenant-messaging-client';
import { api } from './api.ts';

const [shop, status] = process.argv.slice(2);
if (shop === undefined) throw new Error('usage: messages.ts SHOP [STATUS]');

// The API refuses an unknown status and names the field.
const wantedStatus = status as Message['status'] | undefined;
for await (const message of api.eachMessage({ idOrName: shop, status: wantedStatus }))
  console.log(`${message.id} ${message.status} ${message.to ?? '-'}`);
