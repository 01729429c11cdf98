/** Every code and every type of event that a caller can meet is explained where callers and operators look. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MESSAGE_REASONS } from '../../../actors/message-status.ts';
import { EVENT_TYPES } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { ERRORS } from '../../../http/contract/errors.ts';
import {
  DECLARATION_POLICY_CODES,
  MESSAGE_POLICY_CODES,
  STATUS_POLICY_CODES,
} from '../../../policy/refusal.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { root } from '../../testbed/root.ts';

const articles = join(root, 'http/articles/texts');
const reasons = Object.keys(MESSAGE_REASONS);
const policyCodes = [...MESSAGE_POLICY_CODES, ...STATUS_POLICY_CODES, ...DECLARATION_POLICY_CODES];
/** Codes that no operation of the tenants' API answers. */
const OPERATORS_ONLY = new Set(['FORBIDDEN_ROLE', 'EGRESS_UNREACHABLE']);

function assertNamed(codes: readonly string[], text: string): void {
  assert.deepEqual(
    codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(text)),
    [],
  );
}

test('the articles name every reason of a message and every refusal of the policy', () => {
  const text = readdirSync(articles).map((file) => readFileSync(join(articles, file), 'utf8'));
  assertNamed([...reasons, ...policyCodes], text.join('\n'));
});

test('the article on errors has every code a tenant can meet, in a row of its status', () => {
  const rows = readRepositoryFile('http/articles/texts/40-errors-and-retries.md').matchAll(
    /^\| (\d{3}) +\|(.+?)\|/gm,
  );
  const listedCodes = [...rows].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => `${status} ${code}`),
  );
  const met = Object.entries(ERRORS).filter(([code]) => !OPERATORS_ONLY.has(code));
  const expected = new Set(met.map(([, { status, code }]) => `${status} ${code}`));
  assert.deepEqual(listedCodes.sort(), [...expected].sort());
});

test('the contract names every reason of a message and every code', () => {
  const codes = Object.values(ERRORS).map(({ code }) => code);
  assertNamed([...reasons, ...codes], readRepositoryFile('docs/contract.md'));
});

test('the console explains each reason of a message', () => {
  assertNamed(reasons, readRepositoryFile('http/console/app/codes.js'));
});

test('the console explains each code that has several public messages', () => {
  const codes = Object.values(ERRORS).map(({ code }) => code);
  const shared = codes.filter((code, index) => codes.indexOf(code) !== index);
  assert.ok(shared.length > 0);
  assertNamed(shared, readRepositoryFile('http/console/app/codes.js'));
});

for (const document of ['http/articles/texts/45-events.md', 'docs/contract.md']) {
  test(`${document} names every type of event that a tenant gets`, () => {
    assertNamed(EVENT_TYPES, readRepositoryFile(document));
  });
}
