/** The operators' answers of real actors agree with the operators' document, field by field. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type CheckedClient, openClient } from '../../http/openapi/checked-client.ts';
import { closedDocument } from '../../http/openapi/closed-document.ts';
import { openEvents } from '../stack/event-reader.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, sentText } from '../stack/shop-steps.ts';

let stack: MemoryStack;
let operators: CheckedClient | undefined;
before(async () => {
  stack = await startMemoryStack({ paired: true });
  const base = stack.adminUrl();
  operators = await openClient(base, `${base}/openapi.json`, stack.adminToken);
});
after(async () => {
  operators?.close();
  await stack.stop();
});

test('overview, nodes, actors and events are as documented while a shop sends and is paused', async () => {
  const { shopId, tenantId } = stack;
  assert.ok(operators);
  const { call, document } = operators;
  const events = await openEvents(stack.adminUrl().replace('/admin/v1', ''), stack.adminToken);
  const read = async (path: string): Promise<unknown> => {
    const { status, body, text } = await call('GET', path, { key: stack.adminToken });
    assert.equal(status, 200, text);
    return body.data;
  };
  await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  await sentText(stack, shopId, { to: '+33622220001', text: 'One' });
  const own = `/actors/${tenantId}/${shopId}`;
  const pausedReply = await call('POST', `${own}/pause`, { key: stack.adminToken, json: {} });
  assert.equal(pausedReply.status, 200, pausedReply.text);
  await sendText(stack, shopId, { to: '+33622220002', text: 'Two' });
  const shown = (await read(own)) as { details: { queue: { waiting: unknown[] }; transitions: unknown[] } };
  assert.equal(shown.details.queue.waiting.length, 1);
  assert.ok(shown.details.transitions.length > 0);
  for (const path of ['/overview', '/nodes', '/actors', '/machines', '/dead-letters', `${own}/messages`])
    await read(path);
  const refusedReply = await call('POST', `${own}/passivate`, { key: stack.adminToken, json: {} });
  assert.equal(refusedReply.status, 409);

  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(closedDocument(document), 'document');
  const fits = ajv.compile({ $ref: 'document#/components/schemas/OperatorEvent' });
  for (const type of ['message', 'channel', 'pacing']) {
    const { data } = await events.until(type, () => true);
    // The reader takes the type and the time apart from the rest.
    const told = { type, at: new Date(0).toISOString(), ...data };
    assert.ok(fits(told), `${JSON.stringify(data)} ${ajv.errorsText(fits.errors)}`);
  }
  events.close();
});
