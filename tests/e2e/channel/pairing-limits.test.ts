/** The limits of codes for phones: of a tenant, of one number, and of a node that the network refused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeAccount } from '../stack/account.ts';
import { type ApiAnswer, apiClient } from '../stack/api-client.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';

let stack: MemoryStack;
before(async () => {
  stack = await startMemoryStack({});
});
after(() => stack.stop());

const phoneOf = (index: number): string => `+336111100${String(10 + index)}`;

let shopCount = 0;
async function ask(
  phone: string,
): Promise<readonly [status: number, code: string | undefined, seconds: number, message: string]> {
  shopCount += 1;
  const { data } = await stack.api.post('/shops', { name: `Shop ${shopCount}` });
  return refusalOf(await stack.api.post(`/shops/${data.id}/channels/msgapp/pairing-code`, { phone }));
}

function refusalOf({
  status,
  error,
  headers,
}: ApiAnswer): readonly [status: number, code: string | undefined, seconds: number, message: string] {
  return [status, error?.code, Number(headers.get('retry-after')), error?.message ?? ''];
}

/** The API of a tenant that has one shop and asks for codes with it. */
async function anotherTenant(): Promise<(phone: string) => ReturnType<typeof ask>> {
  const { apiKey, shopId } = await makeAccount(stack.admin, 'Another');
  const api = apiClient(stack.apiUrl, apiKey);
  return async (phone) =>
    refusalOf(await api.post(`/shops/${shopId}/channels/msgapp/pairing-code`, { phone }));
}

test('one number is asked five times an hour, by whichever shop of whichever tenant', async () => {
  for (let time = 0; time < 4; time += 1) assert.equal((await ask(phoneOf(0)))[0], 200);
  const askAsAnother = await anotherTenant();
  assert.equal((await askAsAnother(phoneOf(0)))[0], 200);
  assert.equal((await ask(phoneOf(0)))[1], 'PAIRING_RATE_LIMITED');
  const [status, code, seconds, message] = await (await anotherTenant())(phoneOf(0));
  assert.deepEqual([status, code], [429, 'PAIRING_RATE_LIMITED']);
  assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds} s`);
  assert.match(message, /^The limit of this service: one number/);
});

test('a tenant asks ten numbers a day, and one that it asked already is not another', async () => {
  for (let index = 1; index < 10; index += 1) assert.equal((await ask(phoneOf(index)))[0], 200);
  const [status, code, seconds, message] = await ask(phoneOf(10));
  assert.deepEqual([status, code], [429, 'PAIRING_RATE_LIMITED']);
  assert.ok(seconds > 86_000 && seconds <= 86_400, `${seconds} s`);
  assert.match(message, /^The limit of this service: 10 different numbers/);
  assert.equal((await ask(phoneOf(9)))[0], 200);
});

test('a pending code is shown again without another request', async () => {
  const { data } = await stack.api.post('/shops', { name: 'Patient' });
  const path = `/shops/${data.id}/channels/msgapp/pairing-code`;
  for (let time = 0; time < 8; time += 1)
    assert.equal((await stack.api.post(path, { phone: phoneOf(8) })).status, 200);
});

test('if the network refuses a code after its caller was answered, no other shop of the node asks for 15 minutes', async () => {
  const otherAccount = await makeAccount(stack.admin, 'Others');
  const api = apiClient(stack.apiUrl, otherAccount.apiKey);
  const asOther = async (phone: string) => {
    const { data } = await api.post('/shops', { name: `Till of ${phone}` });
    return api.post(`/shops/${data.id}/channels/msgapp/pairing-code`, { phone });
  };
  assert.equal((await asOther('+33611110100')).status, 200);
  const { data } = await stack.api.post('/shops', { name: 'Refused late' });
  const late = await stack.api.post(`/shops/${data.id}/channels/msgapp/pairing-code`, { phone: phoneOf(7) });
  assert.equal(late.status, 200);
  stack.network.drop(stack.session(String(data.id)), 'pairing_refused', 429);
  const { status, error, headers } = await asOther('+33611110101');
  assert.match(error?.message ?? '', /^The chat network said/);
  assert.deepEqual([status, error?.code], [429, 'PAIRING_RATE_LIMITED']);
  const seconds = Number(headers.get('retry-after'));
  assert.ok(seconds > 800 && seconds <= 900, `${seconds} s`);
});
