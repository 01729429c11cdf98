import type { Permission } from '../../actors/permission.ts';
import { callAll } from '../load/http-calls.ts';
import type { BenchShop } from '../load/load-plan.ts';
import { setUpToken } from './program.ts';

/** How many tenants with how many shops and customers. If it is connected, its shops have live sessions. */
export interface FleetSize {
  readonly tenants: number;
  readonly shopsPerTenant: number;
  /** Each tenant has the same numbers as customers, so all of them are known recipients. */
  readonly customers: number;
  readonly isConnected: boolean;
  /** True if operators pause the queues of its shops: messages are accepted and wait. */
  readonly isPaused: boolean;
}

/** The accounts a load works with. */
export interface Fleet {
  readonly keys: readonly { readonly key: string; readonly tenantId: string }[];
  readonly shops: readonly BenchShop[];
  readonly recipients: readonly string[];
}

const CUSTOMERS_PER_CALL = 1_000;
/** The number of calls for each progress line. */
const TOLD_EACH = 5_000;
/** The permissions that the loads use. Each is known to every release, so builds can be compared. */
const LOAD_PERMISSIONS: readonly Permission[] = [
  'shops.read',
  'shops.write',
  'msgapp.read',
  'msgapp.connect',
  'messages.send',
  'messages.read',
];
/** An operator may give a key as much; the load then meets no limit, but every call is still counted. */
const LIMITS = { minute: 100_000_000, hour: 100_000_000, day: 100_000_000 };

/** Makes the fleet as an operator and the tenants' own programs would: over the two APIs. */
export async function makeFleet(options: {
  readonly admin: { readonly port: number; readonly token: string };
  readonly api: { readonly port: number };
  readonly size: FleetSize;
  readonly progress?: (text: string) => void;
}): Promise<Fleet> {
  const { admin, api, size, progress = () => undefined } = options;
  const telling = (title: string, count: number) => ({
    onDone: (done: number) => {
      if (done % TOLD_EACH === 0) progress(`${title} ${done} of ${count}`);
    },
  });
  let calls = 0;
  const create = (path: string, body: object) => ({
    method: 'POST',
    path: `/admin/v1${path}`,
    token: setUpToken(admin.token, calls++),
    body,
  });
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => index);
  const tenants = (await callAll(
    admin.port,
    numbered(size.tenants).map((index) =>
      create('/tenants', {
        name: `Bench ${index}`,
        plan: 'scale',
        owner: { name: 'Bench', notificationNumber: null },
      }),
    ),
  )) as { id: string }[];
  const made = (await callAll(
    admin.port,
    tenants.map(({ id }) =>
      create(`/tenants/${id}/keys`, { name: 'Bench', permissions: LOAD_PERMISSIONS, limits: LIMITS }),
    ),
  )) as { key: string }[];
  const keys = tenants.map(({ id }, index) => ({ tenantId: id, key: made[index]?.key ?? '' }));
  const recipients = numbered(size.customers).map(phone);
  const pages = numbered(Math.ceil(size.customers / CUSTOMERS_PER_CALL)).map((page) =>
    recipients.slice(page * CUSTOMERS_PER_CALL, (page + 1) * CUSTOMERS_PER_CALL),
  );
  await callAll(
    admin.port,
    keys.flatMap(({ tenantId }) =>
      pages.map((phones) => create(`/tenants/${tenantId}/customers`, { phones })),
    ),
  );
  // One shop of each tenant in turn, so that consecutive requests belong to different tenants.
  const owners = numbered(size.shopsPerTenant).flatMap(() => keys);
  const imported = (await callAll(
    admin.port,
    owners.map(({ tenantId }, index) => create(`/tenants/${tenantId}/shops`, { name: `Shop ${index}` })),
    telling('making shop', owners.length),
  )) as { id: string }[];
  const shops = owners.map((owner, index) => ({ ...owner, id: imported[index]?.id ?? '' }));
  if (size.isConnected) await connectAll(api.port, shops, telling('connecting shop', shops.length));
  if (size.isPaused) {
    const pauses = shops.map(({ id, tenantId }) => create(`/actors/${tenantId}/${id}/pause`, {}));
    await callAll(admin.port, pauses);
  }
  return { keys, shops, recipients };
}

/** Connects every shop; the network in memory pairs it at once. */
export async function connectAll(
  port: number,
  shops: readonly BenchShop[],
  options: { readonly onDone?: (done: number) => void } = {},
): Promise<void> {
  const channels = (await callAll(
    port,
    shops.map(({ id, key }) => ({
      method: 'POST',
      path: `/api/v1/shops/${id}/channels/msgapp/connect`,
      token: key,
      body: {},
    })),
    options,
  )) as { status: string }[];
  const other = channels.find(({ status }) => status !== 'connected');
  if (other !== undefined) throw new Error(`a shop did not connect: ${JSON.stringify(other)}`);
}

/** Returns a fleet of the same size for sides that accept any. The peers read it; the floors do not. */
export function inventFleet({ tenants, shopsPerTenant, customers }: FleetSize): Fleet {
  const keys = Array.from({ length: tenants }, (_, index) => ({
    tenantId: objectId(index),
    key: `tm_live_${String(index).padStart(43, '0')}`,
  }));
  const shops = Array.from({ length: shopsPerTenant }, () => keys)
    .flat()
    .map((owner, index) => ({ ...owner, id: objectId(1_000_000 + index) }));
  return { keys, shops, recipients: Array.from({ length: customers }, (_, index) => phone(index)) };
}

function phone(index: number): string {
  return `+4179${String(1_000_000 + index)}`;
}

function objectId(index: number): string {
  return index.toString(16).padStart(24, '0');
}
