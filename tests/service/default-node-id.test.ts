import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultNodeId } from '../../service/default-node-id.ts';

test('a node without a name gets a valid one, which differs by host and port', () => {
  assert.equal(defaultNodeId('web-1.example', 3000), 'web-1.example-3000');
  const pod = 'p'.repeat(63);
  const names = [
    defaultNodeId(pod, 3000),
    defaultNodeId(pod, 3001),
    defaultNodeId(`${pod.slice(1)}q`, 3000),
    defaultNodeId('höst', 1),
    defaultNodeId('h:st', 1),
  ];
  for (const name of names) assert.match(name, /^[\w.-]{1,64}$/);
  assert.equal(new Set(names).size, names.length);
});
