/** The default texts of refusals name the figures that are enforced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGEST_INBOUND_FILE } from '../../../actors/inbound-content.ts';
import { MOST_BATCHES } from '../../../actors/shops/turns/batches/batch-turns.ts';
import { MOST_SCHEDULED } from '../../../actors/shops/turns/scheduled/scheduled-turns.ts';
import { ERRORS } from '../../../http/contract/errors.ts';
import { MOST_BODY_BYTES } from '../../../http/socket/kept-body.ts';
import { MESSAGE_TEXT_LIMIT } from '../../../policy/content-rules.ts';

for (const [code, figure, unit] of [
  ['MESSAGE_TOO_LONG', MESSAGE_TEXT_LIMIT, 'characters'],
  ['SCHEDULED_LIMIT_REACHED', MOST_SCHEDULED, 'scheduled sends'],
  ['BATCH_LIMIT_REACHED', MOST_BATCHES, 'batches'],
  ['MEDIA_TOO_LARGE', LARGEST_INBOUND_FILE / 1024 ** 2, 'MiB'],
  ['PAYLOAD_TOO_LARGE', MOST_BODY_BYTES / 1024, 'KiB'],
] as const) {
  test(`the text of ${code} names the figure that is enforced`, () => {
    assert.match(ERRORS[code].message, new RegExp(`\\b${figure.toLocaleString('en-US')} ${unit}\\b`));
  });
}
