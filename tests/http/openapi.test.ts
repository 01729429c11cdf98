import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument } from '../../http/openapi/openapi.ts';
import { OPERATOR_ENDPOINTS } from '../../http/operator-api/endpoints.ts';
import { API_ENDPOINTS } from '../../http/tenant-api/endpoints.ts';

const api = openApiDocument({
  title: 'API',
  description: 'API',
  serverUrl: 'https://example.com/api/v1',
  security: 'api-key',
  endpoints: API_ENDPOINTS,
});
const operator = openApiDocument({
  title: 'Operators',
  description: 'Operators',
  serverUrl: '/admin/v1',
  security: 'operator',
  endpoints: OPERATOR_ENDPOINTS,
});

describe('the published documents', () => {
  for (const [name, document] of Object.entries({ api, operator })) {
    it(`${name}: is valid OpenAPI 3.1`, async () => {
      const result = await new Validator().validate(structuredClone(document));
      assert.deepEqual(result.errors, undefined, JSON.stringify(result.errors));
      assert.equal(document.openapi, '3.1.0');
    });
  }

  it('declares version 1, the sixteen routes, the two of the articles and the one of the policy', () => {
    assert.equal((api.info as { version: string }).version, '1');
    assert.equal(API_ENDPOINTS.length, 19);
  });

  it('promises a time to come back at only where one is given', () => {
    const responses = JSON.stringify(
      (api.paths as Record<string, unknown>)['/shops/{idOrName}/contacts/consented'],
    );
    const sends = JSON.stringify((api.paths as Record<string, unknown>)['/shops/{idOrName}/messages']);
    const promised = (text: string, code: string): boolean =>
      new RegExp(`"${code}":{"value":{[^}]*"retryAfter":\\d`).test(text);
    for (const code of ['RATE_LIMITED', 'DAILY_CAP_REACHED', 'OVERLOADED', 'SERVICE_UNAVAILABLE']) {
      assert.ok(promised(sends, code), code);
    }
    for (const code of ['MSGAPP_NOT_CONNECTED', 'MSGAPP_SESSION_LOST', 'BOT_SERVICE_UNREACHABLE']) {
      assert.ok(!promised(sends, code), code);
    }
    assert.ok(promised(responses, 'DECLARE_BATCH_TOO_LARGE'));
    const { 429: throttled } = (
      api.paths as Record<string, { post: { responses: Record<string, unknown> } }>
    )['/shops/{idOrName}/messages']?.post.responses ?? { 429: undefined };
    assert.match(JSON.stringify(throttled), /"required":\["code","message","retryAfter"\]/);
  });

  it('declares activeOnly as the two words that the contract has, so that no client sends True', () => {
    const { parameters } = (
      api.paths as Record<string, { get: { parameters: { name: string; schema: unknown }[] } }>
    )['/shops/{idOrName}/contacts/consented']?.get ?? { parameters: [] };
    const {
      type,
      enum: words,
      default: unless,
    } = Object(parameters.find(({ name }) => name === 'activeOnly')?.schema);
    assert.deepEqual([type, words, unless], ['string', ['true', 'false'], 'true']);
  });

  it('says of a verdict what its figures are for a group, with an example', () => {
    const { PolicyVerdict } = (
      api.components as { schemas: Record<string, { description?: string; examples?: unknown[] }> }
    ).schemas;
    assert.match(PolicyVerdict?.description ?? '', /For a group `caps\.perDay` and `caps\.perHour`/);
    assert.match(JSON.stringify(PolicyVerdict?.examples), /"recipientClass":"group"/);
  });

  it('every operation has an id of its own', () => {
    const ids = Object.values(api.paths as Record<string, Record<string, { operationId: string }>>)
      .flatMap((path) => Object.values(path))
      .map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
  });
});
