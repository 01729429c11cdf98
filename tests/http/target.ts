import assert from 'node:assert/strict';
import type { FailureCode } from '../../actors/failure.ts';
import { PERMISSIONS, type Permission } from '../../actors/permission.ts';
import { type CheckedClient, openClient } from './openapi/checked-client.ts';
import type { Operation } from './steered-calls.ts';

/** A running service that the conformance suite is pointed at: base addresses and the operators' token. */
export interface ServiceAddress {
  readonly apiUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  /**
   * Makes the next call of an operation fail like this, in a service of the test's own process. Some rows need it,
   * since their state takes days or a chat network. Without it they are left out.
   */
  readonly plan?: (operation: Operation, failure: { code: FailureCode; retryAfterSeconds?: number }) => void;
  /** Brings a shop's channel to `connected`. */
  connect(key: string, shopId: string): Promise<void>;
  /** A person sends a connected shop a picture. */
  write(owner: TestTenant, shopId: string): Promise<void>;
  /** True if its chat network serves the files that people send. */
  readonly keepsFiles: boolean;
}

/** A tenant made for one test, with a key that may do everything. */
export interface TestTenant {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
}

/** The suite's tools: clients that check every reply against the document, and makers of accounts and shops. */
export interface Target extends ServiceAddress {
  readonly api: CheckedClient;
  readonly admin: CheckedClient;
  tenant(draft?: Record<string, unknown>): Promise<TestTenant>;
  key(
    tenantId: string,
    draft?: Record<string, unknown>,
  ): Promise<{ readonly id: string; readonly key: string }>;
  /** A shop's id. */
  shop(tenant: TestTenant, name?: string): Promise<string>;
  close(): void;
}

/** Opens the target. */
export async function openTarget(address: ServiceAddress): Promise<Target> {
  const { apiUrl, adminUrl, adminToken } = address;
  const api = await openClient(apiUrl, new URL('/openapi.json', apiUrl).href);
  const admin = await openClient(`${adminUrl}/admin/v1`, `${adminUrl}/admin/v1/openapi.json`, adminToken);
  let made = 0;

  async function key(
    tenantId: string,
    draft: Record<string, unknown> = {},
  ): Promise<{ id: string; key: string }> {
    const limits = { minute: 100_000, hour: 1_000_000, day: 10_000_000 };
    const json = { name: 'test', permissions: PERMISSIONS, limits, ...draft };
    const createdReply = await admin.call('POST', `/tenants/${tenantId}/keys`, { key: adminToken, json });
    assert.equal(createdReply.status, 201, createdReply.text);
    return { id: createdReply.body.data.id, key: createdReply.body.data.key };
  }

  return {
    ...address,
    api,
    admin,
    key,
    async tenant(draft = {}) {
      made += 1;
      const owner = { name: 'Ada', notificationNumber: '+41790000000' };
      const json = { name: `Tenant ${made}`, plan: 'growth', owner, ...draft };
      const createdReply = await admin.call('POST', '/tenants', { key: adminToken, json });
      assert.equal(createdReply.status, 201, createdReply.text);
      const { id } = createdReply.body.data;
      const first = await key(id);
      return { id, key: first.key, keyId: first.id };
    },
    async shop(tenant, name = `Shop ${Date.now()} ${Math.random()}`) {
      const json = { name };
      const createdReply = await admin.call('POST', `/tenants/${tenant.id}/shops`, { key: adminToken, json });
      assert.equal(createdReply.status, 201, createdReply.text);
      return createdReply.body.data.id;
    },
    close() {
      api.close();
      admin.close();
    },
  };
}

/** Every permission but one. */
export function allBut(permission: string): Permission[] {
  return PERMISSIONS.filter((name) => name !== permission);
}
