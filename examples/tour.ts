/**
 * The tour of README.md: connects the demo shop of `bin/dev`, sends, waits, and looks at the recipient's handset.
 *
 *   API_KEY=$(node -p 'require("./.data/dev.json").apiKey') npx tsx examples/tour.ts
 */
import { api } from './api.ts';

const { SIMULATOR_URL = 'http://127.0.0.1:3002' } = process.env;

/** The simulated phone scans a code. */
async function scan(qr: string): Promise<void> {
  const body = JSON.stringify({ qr, phone: '+33611110001' });
  const headers = { 'content-type': 'application/json' };
  const { ok } = await fetch(`${SIMULATOR_URL}/scan`, { method: 'POST', body, headers });
  if (!ok) throw new Error('The simulator took no scan.');
}

/** The texts on a simulated handset. */
async function inbox(phone: string): Promise<string[]> {
  const response = await fetch(`${SIMULATOR_URL}/numbers/${phone}/inbox`);
  const { data } = (await response.json()) as {
    readonly data: { readonly items: readonly { text: string }[] };
  };
  return data.items.map(({ text }) => text);
}

const shop = { idOrName: 'Demo shop' };
for await (const { qr } of api.connect(shop)) if (qr !== undefined) await scan(qr);
const bread = { channel: 'msgapp', to: '+33622220001', text: 'Your bread is ready' } as const;
const sent = await api.sendMessage({ ...shop, ...bread, idempotencyKey: 'order-1' });
const message = await api.waitForMessage(sent.data.id);
console.log(sent.status, message.status, await inbox(bread.to));
