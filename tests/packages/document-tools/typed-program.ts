/**
 * A TypeScript program of a user of the API. `openapi-typescript` made its types of every request and reply from the
 * two documents. tests/http/openapi/document-tools.test.ts compiles it and runs it against a service.
 */
import type { operations } from './api.ts';
import type { operations as operatorOperations } from './operators.ts';

const [, , apiUrl = '', adminUrl = '', adminToken = ''] = process.argv;

type Json<Part> = Part extends { content: { 'application/json': infer Body } } ? Body : never;
type BodyOf<Operation> = Operation extends { requestBody: infer Part } ? Json<Part> : never;
type DataOf<Operation, Status extends number> = Operation extends { responses: Record<Status, infer Part> }
  ? Json<Part> extends { data: infer Data }
    ? Data
    : never
  : never;

async function post<Data>(
  url: string,
  token: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Data> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as { readonly data: Data };
  if (!response.ok) throw new Error(`${url}: ${response.status} ${JSON.stringify(reply)}`);
  return reply.data;
}

const newTenant: BodyOf<operatorOperations['createTenant']> = {
  name: 'Typed',
  plan: 'starter',
  owner: { name: 'Ada' },
};
const tenant = await post<DataOf<operatorOperations['createTenant'], 201>>(
  `${adminUrl}/admin/v1/tenants`,
  adminToken,
  newTenant,
);
const newKey: BodyOf<operatorOperations['createKey']> = { name: 'typed', permissions: ['shops.write'] };
const { key } = await post<DataOf<operatorOperations['createKey'], 201>>(
  `${adminUrl}/admin/v1/tenants/${tenant.id}/keys`,
  adminToken,
  newKey,
);

type CreateShop = operations['createShop'];
type KeyHeader = NonNullable<NonNullable<CreateShop['parameters']['header']>['Idempotency-Key']>;
const headers: { 'Idempotency-Key': KeyHeader } = { 'Idempotency-Key': 'typed-1' };
const newShop: BodyOf<CreateShop> = { name: 'Bakery' };
const made = await post<DataOf<CreateShop, 201>>(`${apiUrl}/shops`, key, newShop, headers);
const again = await post<DataOf<CreateShop, 200>>(`${apiUrl}/shops`, key, newShop, headers);
const missing: 'location' | 'operatingHours' | undefined = again.setupRequired[0];

// @ts-expect-error A request is closed: what the service would refuse does not compile.
const misspelt: BodyOf<operations['sendMessage']> = { channel: 'msgapp', to: '+41791234567', txt: 'hello' };
// @ts-expect-error A status that no message has.
const unknown: DataOf<operations['readMessage'], 200>['status'] = 'delivered';
void [misspelt, unknown];

process.stdout.write(JSON.stringify({ same: made.id === again.id, missing }));
