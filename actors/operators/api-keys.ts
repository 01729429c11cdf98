import type { Actors } from '../../runtime/actors.ts';
import { afterCommand } from '../../runtime/after-command.ts';
import type { Clock } from '../../runtime/clock.ts';
import { done, type FailureCode, failed } from '../failure.ts';
import { askTenant } from '../tenants/ask-tenant.ts';
import type { KeyIndex } from '../tenants/key-index.ts';
import { keyHash, makeRawKey } from '../tenants/raw-key.ts';
import { hashesToForget } from '../tenants/retired-hashes.ts';
import { keyView } from '../tenants/tenant-record.ts';
import type { FreshKeyView, KeyView } from '../tenants/tenant-view.ts';
import type { LookupOutcome, OperatorOperations } from './operator-operations.ts';
import { withTenant } from './with-tenant.ts';

export interface ApiKeysOptions {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly keyIndex: KeyIndex;
  readonly makeId: (nowMs: number) => string;
}

type ApiKeys = Pick<OperatorOperations, 'createKey' | 'listKeys' | 'rotateKey' | 'revokeKey'>;

/** Makes, lists, rotates and revokes the keys of tenants. */
export function apiKeys({ actors, keyIndex, clock, makeId }: ApiKeysOptions): ApiKeys {
  /** Makes a value and names its tenant first, so that the key is found as soon as the commit succeeds. */
  const withNewValue = async <Code extends FailureCode = never>(
    tenantId: string,
    put: (hash: string) => Promise<LookupOutcome<KeyView, Code>>,
  ): Promise<LookupOutcome<FreshKeyView, Code>> => {
    const key = makeRawKey();
    const hash = keyHash(key);
    await keyIndex.name(hash, tenantId);
    const record = await put(hash);
    if (!record.ok) return record;
    const isKept = await afterCommand(() => keyIndex.keep(hash));
    return isKept ? done({ ...record.value, key }) : failed('NOT_FOUND');
  };

  return {
    createKey: (tenantId, { expiresAt, ...draft }) =>
      withTenant(actors, tenantId, () =>
        withNewValue(tenantId, (hash) => {
          const nowMs = clock.wallMs();
          const expiresAtMs = expiresAt === null ? null : Date.parse(expiresAt);
          const times = { createdAtMs: nowMs, rotatedAtMs: null, revokedAtMs: null };
          const storedKey = { id: makeId(nowMs), hash, ...draft, expiresAtMs, ...times };
          return askTenant(actors, tenantId, { type: 'put_key', key: storedKey });
        }),
      ),
    listKeys: (tenantId) =>
      withTenant(actors, tenantId, ({ apiKeys }) =>
        done([...apiKeys.values()].map(({ record }) => keyView(record))),
      ),
    rotateKey: (tenantId, keyId) =>
      withTenant(actors, tenantId, async ({ apiKeys }) => {
        const forgottenHashes = hashesToForget(apiKeys.get(keyId)?.record ?? {});
        // Before the commit: a crash after it would leave them in the index permanently.
        if (forgottenHashes.length > 0) await keyIndex.forget(forgottenHashes);
        return withNewValue(tenantId, (hash) =>
          askTenant(actors, tenantId, { type: 'rotate_key', keyId, hash, forgotten: forgottenHashes }),
        );
      }),
    revokeKey: (tenantId, keyId) => askTenant(actors, tenantId, { type: 'revoke_key', keyId }),
  };
}
