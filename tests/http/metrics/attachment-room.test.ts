import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeMetrics } from '../../../http/metrics/metrics.ts';
import { exportAttachmentRoom } from '../../../http/metrics/node-metrics.ts';

test('without the folder of attachments the metrics are complete and report no room', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'attachments-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const metrics = makeMetrics();
  exportAttachmentRoom(metrics, folder);
  assert.match(await metrics.text(), /^msgapi_attachment_room_ratio 0?\.?\d/m);
  await rm(folder, { recursive: true });
  const text = await metrics.text();
  assert.match(text, /^msgapi_attachment_room_ratio 0$/m);
  assert.match(text, /^process_resident_memory_bytes /m);
});
