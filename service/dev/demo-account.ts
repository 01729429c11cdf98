import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { PERMISSIONS } from '../../actors/permission.ts';

const keptSchema = v.object({
  adminToken: v.string(),
  credentialsKey: v.string(),
  tenantId: v.optional(v.string()),
  shopId: v.optional(v.string()),
  apiKey: v.optional(v.string()),
});

/** The secrets of `bin/dev` and the demo account as far as it was made, kept for the next start. */
export type DevState = v.InferOutput<typeof keptSchema>;

/** `dev.json` in the data directory, readable by its owner only. */
export interface DevStateFile {
  /** Reads the file; `undefined` when there is none yet. Throws when its content is not what `write` wrote. */
  read(): DevState | undefined;
  /** Replaces the file at once, so that a kill leaves the old content or the new. */
  write(state: DevState): void;
}

/** Opens the file; nothing is read or written yet. */
export function devStateFile(dataDirectory: string): DevStateFile {
  const path = join(dataDirectory, 'dev.json');
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
      try {
        return v.parse(keptSchema, JSON.parse(text));
      } catch (error) {
        throw new Error(`${path} cannot be understood; move it away to begin with a new account`, {
          cause: error,
        });
      }
    },
    write(state) {
      writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flush: true });
      renameSync(`${path}.new`, path);
    },
  };
}

/** The demo account, complete. */
export interface DemoAccount {
  readonly tenantId: string;
  readonly shopId: string;
  readonly apiKey: string;
}

/**
 * Makes the demo tenant, its shop and its key through the operators' API if they are missing. Stores each as soon as it
 * is made. An account that the service does not know (another Redis) is made again. So is a key that it no longer
 * accepts, since an operator may have revoked it.
 */
export async function ensureDemoAccount(options: {
  readonly apiUrl: string;
  readonly adminUrl: string;
  readonly file: DevStateFile;
  readonly state: DevState;
}): Promise<DemoAccount> {
  const { apiUrl, adminUrl, file } = options;
  const call = operatorCalls(adminUrl, options.state.adminToken);
  let state = options.state;
  const keepState = (changes: Partial<DevState>): void => {
    state = { ...state, ...changes };
    file.write(state);
  };
  if (state.tenantId !== undefined && !(await call.exists(`/tenants/${state.tenantId}`))) {
    const { adminToken, credentialsKey } = state;
    state = { adminToken, credentialsKey };
  }
  const owner = { name: 'Demo owner', notificationNumber: null };
  const tenantId =
    state.tenantId ?? (await call.create('/tenants', { name: 'Demo', plan: 'scale', owner })).id;
  keepState({ tenantId });
  const shopId = state.shopId ?? (await call.create(`/tenants/${tenantId}/shops`, { name: 'Demo shop' })).id;
  keepState({ shopId });
  const keptKey = state.apiKey;
  const apiKey =
    keptKey !== undefined && (await isTaken(apiUrl, keptKey)) ? keptKey : await createKey(call, tenantId);
  keepState({ apiKey });
  return { tenantId, shopId, apiKey };
}

async function isTaken(apiUrl: string, apiKey: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const reply = await fetch(`${apiUrl}/me`, { headers, signal: AbortSignal.timeout(30_000) });
  return reply.status !== 401;
}

async function createKey(call: OperatorCalls, tenantId: string): Promise<string> {
  const { key } = await call.create(`/tenants/${tenantId}/keys`, {
    name: 'Demo key',
    permissions: PERMISSIONS,
    limits: { minute: 6_000, hour: 100_000, day: 1_000_000 },
  });
  if (key === undefined) throw new Error('the operator API made a key and did not return it');
  return key;
}

interface OperatorCalls {
  exists(path: string): Promise<boolean>;
  create(path: string, body: object): Promise<{ readonly id: string; readonly key?: string | undefined }>;
}

const createdSchema = v.object({ data: v.object({ id: v.string(), key: v.optional(v.string()) }) });

/** How often a call is made that the service cannot answer at the moment, as while a slow machine starts it. */
const MOST_TRIES = 30;

function operatorCalls(adminUrl: string, adminToken: string): OperatorCalls {
  const requestOnce = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${adminUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
  const request = async (...call: Parameters<typeof requestOnce>): Promise<Response> => {
    for (let tries = 1; ; tries += 1) {
      const reply = await requestOnce(...call);
      const retryAfterSeconds = Number(reply.headers.get('retry-after'));
      if (reply.status !== 503 || retryAfterSeconds === 0 || tries === MOST_TRIES) return reply;
      await reply.body?.cancel();
      await delay(retryAfterSeconds * 1_000);
    }
  };
  const fail = async (action: string, reply: Response): Promise<never> => {
    throw new Error(`${action} was answered ${reply.status}: ${await reply.text()}`);
  };
  return {
    async exists(path) {
      const reply = await request('GET', path);
      if (reply.status === 404) return false;
      return reply.ok || fail(`GET ${path}`, reply);
    },
    async create(path, body) {
      const reply = await request('POST', path, body);
      if (reply.status !== 201) return fail(`POST ${path}`, reply);
      return v.parse(createdSchema, await reply.json()).data;
    },
  };
}
