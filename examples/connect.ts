/**
 * Connects a shop's number: writes each QR code to a picture, and waits until a phone has scanned one.
 *
 *   API_KEY=tm_live_… npx tsx examples/connect.ts "Demo shop" /tmp/qr.png
 *
 * Open the picture and scan it with the shop's phone (linked devices); it is rewritten when the code changes.
 */
import { writeFileSync } from 'node:fs';
import { api } from './api.ts';

const [shop, picture] = process.argv.slice(2);
if (shop === undefined || picture === undefined) throw new Error('usage: connect.ts SHOP PICTURE');

for await (const { status, qr, qrImageDataUrl, phone, reason } of api.connect({ idOrName: shop })) {
  if (status === 'connected') console.log(`connected ${phone}`);
  if (reason !== undefined) console.log(`refused ${reason}`);
  if (qr === undefined || qrImageDataUrl === undefined) continue;
  const [, base64 = ''] = qrImageDataUrl.split(',');
  writeFileSync(picture, Buffer.from(base64, 'base64'));
  console.log(`qr ${qr}`);
}
