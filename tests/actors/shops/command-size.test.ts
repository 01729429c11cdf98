/** A mailbox is bounded by bytes, so a command counts for all text that it brings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShopCommand } from '../../../actors/shops/protocol/shop-commands.ts';
import { commandSize } from '../../../actors/shops/turns/command-size.ts';
import { textDraft } from './shop-harness.ts';

const TEXT = 'x'.repeat(4_000);
const sizeOf = (command: object): number => commandSize(command as ShopCommand);

test('a scheduled send counts for its text, as a send does', () => {
  const draft = textDraft('+33612345678', TEXT);
  assert.ok(sizeOf({ type: 'schedule', draft }) > TEXT.length);
  assert.equal(sizeOf({ type: 'schedule', draft }), sizeOf({ type: 'send', draft }));
});

test('a batch counts for its text, and for the fields of each recipient', () => {
  const recipients = [1, 2].map((index) => ({ to: `+3361234567${index}`, fields: { name: TEXT } }));
  assert.ok(sizeOf({ type: 'create_batch', asked: { text: TEXT, recipients } }) > 3 * TEXT.length);
  assert.ok(sizeOf({ type: 'add_recipients', asked: { recipients } }) > 2 * TEXT.length);
});
