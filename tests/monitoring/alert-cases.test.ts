/** Each alert has a case for promtool (`npm run test:alerts`) in which it fires. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const folder = join(root, 'tests/monitoring');
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');
const rules = readRepositoryFile('deploy/monitoring/alert-rules.yaml');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

test('each alert has a case in which it fires', () => {
  const firing = (name: string): boolean =>
    new RegExp(`labels: '?ALERTS\\{alertname="${name}",alertstate="firing"`).test(cases);
  assert.ok(alerts.length > 40);
  assert.deepEqual(
    alerts.filter((name) => !firing(name)),
    [],
  );
});
