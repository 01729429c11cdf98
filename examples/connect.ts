/**
 * Connects a shop's number: writes each QR code to a picture, and waits until a phone has scanned one.
 *
 *   API_KEY=tm_live_… npx tsx examples/connect.ts "Demo shop" /tmp/qr.png
 *
 * Open the picture and scan it with the shop's phone (linked devices); it is written anew when the code changes.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callAgain } from './api.ts';

interface Channel {
  readonly status: 'starting' | 'qr_waiting' | 'connected' | 'disconnected';
  readonly qr?: string;
  readonly qrImageDataUrl?: string;
  readonly pollAfterMs?: number;
  readonly phone?: string;
}

const [shop, picture] = process.argv.slice(2);
if (shop === undefined || picture === undefined) throw new Error('usage: connect.ts SHOP PICTURE');
const path = `/shops/${encodeURIComponent(shop)}/channels/msgapp/connect`;

let shown: string | undefined;
let { data: channel } = await callAgain<Channel>('POST', path);
while (channel.status !== 'connected') {
  if (channel.qr !== undefined && channel.qr !== shown) {
    shown = channel.qr;
    const [, base64 = ''] = (channel.qrImageDataUrl ?? '').split(',');
    writeFileSync(picture, Buffer.from(base64, 'base64'));
    console.log(`qr ${channel.qr}`);
  }
  await sleep(channel.pollAfterMs ?? 2_000);
  // When all codes were used up the connection has ended, and a POST starts it anew.
  const method = channel.status === 'disconnected' ? 'POST' : 'GET';
  ({ data: channel } = await callAgain<Channel>(method, path));
}
console.log(`connected ${channel.phone}`);
