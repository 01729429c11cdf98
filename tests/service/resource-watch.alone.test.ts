/** A process that has nearly used up its memory or its descriptors logs it once, and its metrics show it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeMetrics } from '../../http/metrics/metrics.ts';
import { exportProcess } from '../../http/metrics/node-metrics.ts';
import {
  descriptorCount,
  memoryLimitBytes,
  memoryUse,
  type ReadUse,
  watchResources,
} from '../../service/resource-watch.ts';
import { descriptorLimit } from '../testbed/descriptor-limit.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { QuietLog } from '../testbed/quiet-log.ts';

test('one warning names what is nearly used up, and another comes only after it was free again', async () => {
  const clock = new FakeClock();
  const log = new QuietLog();
  const shares: Record<string, number | undefined> = {};
  const read =
    (name: string): ReadUse =>
    async () => {
      const used = shares[name];
      return used === undefined ? undefined : { used, most: 100 };
    };
  const resources = ['memory', 'descriptors'].map((name) => ({ warning: name, read: read(name) }));
  const watch = watchResources({ clock, log, resources });
  const look = async (memory: number | undefined, descriptors: number): Promise<string[]> => {
    Object.assign(shares, { memory, descriptors });
    await clock.advance(5_000);
    return log.warnings.splice(0);
  };
  assert.deepEqual(await look(90, 90), []);
  assert.deepEqual(await look(10, 91), ['descriptors']);
  assert.deepEqual(await look(91, 95), ['memory']);
  assert.deepEqual(await look(85, 85), []);
  assert.deepEqual(await look(undefined, 79), []);
  assert.deepEqual(await look(95, 95), ['descriptors']);
  watch.stop();
  assert.deepEqual(await look(0, 0), []);
  assert.deepEqual(await look(95, 95), []);
});

test('the metrics and the log count by the limit of descriptors in force, also when none is left', async (context) => {
  const metrics = makeMetrics();
  const count = descriptorCount();
  exportProcess(metrics, { descriptors: count, memoryLimitBytes });
  const shown = async (): Promise<(number | undefined)[]> => {
    const text = await metrics.text();
    return ['process_open_fds', 'process_max_fds'].map((name) => {
      const [, value] = new RegExp(`^${name} (\\d+)$`, 'm').exec(text) ?? [];
      return value === undefined ? undefined : Number(value);
    });
  };
  const limit = await descriptorLimit(process.pid);
  context.after(() => limit.close());
  const [used = 0] = await shown();
  const lowered = await limit.leave(50);
  assert.deepEqual(await shown(), [lowered - 50, lowered]);
  assert.ok(used > 2, `${used} descriptors`);
  const few = await limit.leave(-5);
  assert.deepEqual(await shown(), [few, few]);
  assert.deepEqual([await memoryUse(), await count()], [undefined, { used: few, most: few }]);
  await limit.restore();
  const memory = await memoryUse();
  assert.ok(memory !== undefined && memory.used > 0 && memory.used < memory.most);
});
