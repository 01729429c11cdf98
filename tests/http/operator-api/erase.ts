import assert from 'node:assert/strict';
import { eventually } from '../../testbed/waiting.ts';
import type { Reply } from '../openapi/checked-client.ts';

/** Erases a tenant, or a shop by its path, and waits for the end where a busy machine takes longer than a second. */
export async function erase(
  operator: (method: string, path: string) => Promise<Reply>,
  path: string,
): Promise<void> {
  const { status, body, text } = await operator('DELETE', path);
  assert.ok(body.success, text);
  assert.equal(status, body.data.deleted ? 200 : 202);
  const [tenant] = path.split('/shops/');
  await eventually(async () => (await operator('GET', `${tenant}/erasure`)).status === 404);
}
