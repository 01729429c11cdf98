/**
 * Writes one text to all people of a list, over hours and days, and prints the progress.
 *
 *   API_KEY=tm_live_… npx tsx examples/batch.ts "Demo shop" spring-hours people.csv "Hello {{name}}, we open at seven."
 *
 * Each line of the list is `number,name`. The key identifies the batch: the same call again, also after a crash,
 * follows the existing one. Ends when the batch has ended, or stopped by itself.
 */
import { readFileSync } from 'node:fs';
import { api } from './api.ts';

const [shop, key, file, text] = process.argv.slice(2);
if (shop === undefined || key === undefined || file === undefined || text === undefined)
  throw new Error('usage: batch.ts SHOP KEY LIST TEXT');

/** Recipients of one call: the API takes 1,000 and 64 KiB. */
const AT_ONCE = 500;

const lines = readFileSync(file, 'utf8').trim().split('\n');
const people = lines.map((line) => {
  const [to = '', name = ''] = line.split(',');
  return { to: to.trim(), fields: { name: name.trim() } };
});

// Read before the batch is made, so that none of its events is missed.
const { nextCursor } = (await api.listEvents()).data;
const creation = await api.createBatch({
  ...{ idOrName: shop, name: key, text, recipients: people.slice(0, AT_ONCE) },
  ...{ idempotencyKey: key, paused: true },
});
const { id, shopId } = creation.data;
const batch = { idOrName: shopId, id };
const refused = [...creation.data.refused];
for (let from = AT_ONCE; from < people.length && creation.data.startedAt === null; from += AT_ONCE) {
  const recipients = people.slice(from, from + AT_ONCE);
  const added = await api.addBatchRecipients({ ...batch, recipients, idempotencyKey: `${key}-${from}` });
  refused.push(...added.data.refused);
}
for (const { to, code } of refused) console.log(`refused ${to} ${code}`);

// A batch that stopped by itself continues only after a person checked it.
if (creation.data.status === 'paused') await api.resumeBatch(batch);
const { data: begunBatch } = await api.readBatch(batch);
for (const { date, count } of begunBatch.forecast?.days ?? []) console.log(`forecast ${date} ${count}`);
const isOver = begunBatch.endedAt !== null || begunBatch.status === 'stopped';
const types = ['batch.finished', 'batch.stopped'] as const;
if (!isOver) {
  for await (const event of api.followEvents({ cursor: nextCursor, shop: shopId, types })) {
    if ('id' in event.data && event.data.id === id) break;
  }
}
const { status, progress, stopped } = (await api.readBatch(batch)).data;
console.log(`${status} ${stopped?.reason ?? `sent ${progress.sent}`}`);
