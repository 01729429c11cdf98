import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../../http/openapi/openapi.ts';
import { EVENT_OPERATION, OPERATOR_SCHEMAS } from '../../../http/operator-api/edge/operator-pages.ts';
import { OPERATOR_ENDPOINTS } from '../../../http/operator-api/endpoints.ts';
import { API_SCHEMAS } from '../../../http/tenant-api/api-schemas.ts';
import { API_ENDPOINTS } from '../../../http/tenant-api/endpoints.ts';
import { shownFile } from '../../../http/tenant-api/shown-file.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { closedDocument } from './closed-document.ts';

const api = openApiDocument({
  title: 'API',
  description: 'API',
  serverUrl: 'https://example.com/api/v1',
  security: 'api-key',
  endpoints: API_ENDPOINTS,
  namedSchemas: API_SCHEMAS,
});
const operator = openApiDocument({
  title: 'Operators',
  description: 'Operators',
  serverUrl: '/admin/v1',
  security: 'operator',
  endpoints: OPERATOR_ENDPOINTS,
  namedSchemas: OPERATOR_SCHEMAS,
  streams: { '/events': EVENT_OPERATION },
});

describe('the published documents', () => {
  for (const [name, document] of Object.entries({ api, operator })) {
    test(`${name}: is valid OpenAPI 3.1`, async () => {
      const result = await new Validator().validate(structuredClone(document));
      assert.deepEqual(result.errors, undefined, JSON.stringify(result.errors));
      assert.equal(document.openapi, '3.1.0');
    });
  }

  test('declares version 1, and each route of the contract with its permission and statuses', () => {
    assert.equal((api.info as { version: string }).version, '1');
    const contract = readRepositoryFile('docs/contract.md');
    const rows = contract.matchAll(/^\| (GET|POST|PATCH|DELETE) +\| `([^|]+)` +\| ([\w.]+) +\|([^|]+)\|$/gm);
    const listed = [...rows].flatMap(([, method, paths = '', permission, success = '']) =>
      paths
        .split('`, `')
        .map((path) => [method, path, permission, ...(success.match(/\b20\d\b/g) ?? []).sort()]),
    );
    const declared = API_ENDPOINTS.map(({ method, path, permission, replies }) => [
      ...[method, path, permission],
      ...Object.keys(replies),
    ]);
    const named = (row: readonly unknown[]): string => row.join(' ').replace(/\{\w+\}/g, '{}');
    assert.deepEqual(declared.map(named).sort(), listed.map(named).sort());
  });

  test('takes as Idempotency-Key what the service takes: ASCII, and an empty one, which counts as none', () => {
    type Operation = { parameters: readonly { name: string; schema: object }[] };
    const { parameters } = (api.paths as Record<string, { post: Operation }>)['/shops']?.post ?? {
      parameters: [],
    };
    const schema = parameters.find(({ name }) => name === 'Idempotency-Key')?.schema;
    assert.ok(schema);
    const fits = new Ajv2020().compile(schema);
    const taken = ['', 'order 1', 'x'.repeat(128), 'x'.repeat(129), 'caf\u00e9'].map((key) => fits(key));
    assert.deepEqual(taken, [true, true, true, false, false]);
  });

  test('promise a time to retry only if one is given', () => {
    const { examples, schemas } = api.components as {
      examples: Record<string, { value: { error: { retryAfter?: number } } }>;
      schemas: Record<string, unknown>;
    };
    const promised = (code: string): boolean => examples[code]?.value.error.retryAfter !== undefined;
    for (const code of ['RATE_LIMITED', 'DAILY_CAP_REACHED', 'OVERLOADED', 'SERVICE_UNAVAILABLE'])
      assert.ok(promised(code), code);
    for (const code of ['MSGAPP_NOT_CONNECTED', 'MSGAPP_SESSION_LOST', 'BOT_SERVICE_UNREACHABLE'])
      assert.ok(!promised(code), code);
    assert.ok(promised('DECLARE_BATCH_TOO_LARGE'));
    assert.match(JSON.stringify(schemas.Throttled), /"required":\["retryAfter"\]/);
    for (const { operation } of operationsOf(api)) {
      assert.match(JSON.stringify(responseOf(api, operation, '429')), /schemas\/Throttled"/);
      assert.match(JSON.stringify(responseOf(api, operation, '503')), /schemas\/Failure"/);
    }
  });

  test('leaves replies open and closes requests', () => {
    for (const document of [api, operator]) {
      const { components } = document as { components: object };
      assert.doesNotMatch(JSON.stringify(components), /"additionalProperties":false/);
      for (const { name, operation } of operationsOf(document)) {
        const { responses, requestBody } = operation;
        assert.doesNotMatch(JSON.stringify(responses), /"additionalProperties":false/, name);
        if (requestBody !== undefined)
          assert.match(JSON.stringify(requestBody), /"additionalProperties":false/, name);
      }
    }
  });

  test('names of each operation the codes it can answer, and no other', () => {
    const codes = (document: object, name: string): string[] => {
      const foundOperation = operationsOf(document).find((operation) => operation.name === name);
      assert.ok(foundOperation, name);
      const { operation } = foundOperation;
      const statuses = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
      return statuses.flatMap((status) => codesOf(responseOf(document, operation, status))).sort();
    };
    const always = [
      'API_KEY_EXPIRED',
      'API_KEY_INVALID',
      'API_KEY_MISSING',
      'API_KEY_REVOKED',
      'BOT_SERVICE_UNREACHABLE',
      'INTERNAL_ERROR',
      'IP_NOT_ALLOWED',
      'OVERLOADED',
      'PAYLOAD_TOO_LARGE',
      'RATE_LIMITED',
      'SERVICE_UNAVAILABLE',
      'TENANT_INACTIVE',
      'VALIDATION_ERROR',
    ];
    assert.deepEqual(codes(api, 'readIdentity'), always);
    const listed = [...always, 'FORBIDDEN_PERMISSION', 'QUOTA_EXCEEDED'].sort();
    assert.deepEqual(codes(api, 'listShops'), listed);
    assert.deepEqual(codes(api, 'readMessage'), [...listed, 'MESSAGE_NOT_FOUND'].sort());
    const operators = [
      'API_KEY_INVALID',
      'API_KEY_MISSING',
      'FORBIDDEN_ROLE',
      'INTERNAL_ERROR',
      'OVERLOADED',
      'PAYLOAD_TOO_LARGE',
      'RATE_LIMITED',
      'SERVICE_UNAVAILABLE',
      'VALIDATION_ERROR',
    ];
    assert.deepEqual(codes(operator, 'listNodes'), operators);
    assert.deepEqual(
      codes(operator, 'readTenant'),
      [...operators, 'BOT_SERVICE_UNREACHABLE', 'NOT_FOUND'].sort(),
    );
  });

  test('name each thing once: envelopes, errors and their examples are shared', () => {
    // Before they were, the two had 225,985 and 271,533 bytes.
    assert.ok(JSON.stringify(api).length < 232_000, `${JSON.stringify(api).length} bytes`);
    assert.ok(JSON.stringify(operator).length < 180_000, `${JSON.stringify(operator).length} bytes`);
  });

  test('type the operators’ replies: no part is a free-form record', () => {
    const { schemas } = operator.components as { schemas: Record<string, { properties?: object }> };
    for (const name of ['Overview', 'Node', 'ShopActor', 'ShopInspection', 'ShopDetails', 'DeadLetter'])
      assert.ok(Object.keys(schemas[name]?.properties ?? {}).length > 2, name);
    // The facts of a live session are the chat client's own, so they have no schema.
    assert.deepEqual(JSON.stringify(operator).match(/"additionalProperties":\{\}/g)?.length, 1);
    assert.match(JSON.stringify(schemas.OperatorEvent), /"missed"/);
  });

  test('shows nothing in its examples that its schemas do not have', () => {
    for (const document of [api, operator]) {
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats.default(ajv);
      ajv.addSchema(closedDocument(document), 'document');
      for (const { name, at, operation } of operationsOf(document)) {
        const parts: [string[], unknown][] = Object.entries(operation.responses).map(([status, response]) => [
          ['responses', status],
          response,
        ]);
        if (operation.requestBody !== undefined) parts.push([['requestBody'], operation.requestBody]);
        for (const [part, described] of parts) {
          const { content } = described as { content?: Record<string, { example?: unknown }> };
          const example = content?.['application/json']?.example;
          if (example === undefined) continue;
          const pointer = [...at, ...part, 'content', 'application/json', 'schema'];
          const path = pointer.map((part) => encodeURIComponent(part.replaceAll('/', '~1'))).join('/');
          const fits = ajv.compile({ $ref: `document#/${path}` });
          assert.ok(fits(example), `${name}: ${ajv.errorsText(fits.errors)}`);
        }
      }
    }
  });

  test('declares each type that a file of an inbound message is sent with', () => {
    const { content } = (
      api.paths as Record<string, { get: { responses: Record<string, { content: object }> } }>
    )['/inbound/{id}/media']?.get.responses['200'] ?? { content: {} };
    const sent = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'video/mp4', 'video/3gpp']
      .concat('audio/ogg; codecs=opus', 'audio/mpeg', 'audio/mp4', 'audio/aac', 'audio/amr', 'text/html')
      .map((type) => shownFile({ type, fileName: null }).contentType);
    assert.deepEqual(Object.keys(content).sort(), sent.sort());
  });

  test('declare activeOnly as the two words of the contract, so that no client sends True', () => {
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

  test('describe the figures of a verdict for a group, with an example', () => {
    const { PolicyVerdict } = (
      api.components as { schemas: Record<string, { description?: string; examples?: unknown[] }> }
    ).schemas;
    assert.match(PolicyVerdict?.description ?? '', /For a group, `caps\.perDay` and `caps\.perHour`/);
    assert.match(JSON.stringify(PolicyVerdict?.examples), /"recipientClass":"group"/);
  });

  test('calls every operation by the name of its endpoint, and no two alike', () => {
    for (const document of [api, operator]) {
      const ids = operationsOf(document).map(({ name }) => name);
      assert.equal(new Set(ids).size, ids.length);
      for (const id of ids) assert.match(id, /^[a-z]+[A-Z][A-Za-z]+$/);
    }
    const names = operationsOf(api).map(({ name }) => name);
    for (const name of ['sendMessage', 'connectChannel', 'readIdentity'])
      assert.ok(names.includes(name), name);
  });
});

interface Operation {
  readonly operationId: string;
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

interface FoundOperation {
  readonly name: string;
  readonly at: readonly string[];
  readonly operation: Operation;
}

function operationsOf(document: object): readonly FoundOperation[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: operation.operationId,
      at: ['paths', path, method],
      operation,
    })),
  );
}

/** A response of an operation, looked up where it is a reference. */
function responseOf(document: object, operation: Operation, status: string): object {
  const found = operation.responses[status] as { $ref?: string } | undefined;
  assert.ok(found, `${operation.operationId} ${status}`);
  if (found.$ref === undefined) return found;
  const { components } = document as { components: { responses: Record<string, object> } };
  const shared = components.responses[found.$ref.replace('#/components/responses/', '')];
  assert.ok(shared, found.$ref);
  return shared;
}

function codesOf(response: object): readonly string[] {
  const [, words = ''] = /"enum":\[([^\]]*)\]/.exec(JSON.stringify(response)) ?? [];
  return words.replaceAll('"', '').split(',');
}
