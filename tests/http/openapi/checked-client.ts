import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { closedDocument } from './closed-document.ts';

/** How long a connection is kept for the next call. */
const IDLE_MS = 4_000;

/** A call to make. */
export interface Call {
  readonly key?: string | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The reply to a call. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into replies of every shape; the document has checked them
  readonly body: any;
  readonly text: string;
}

/** A client that holds every reply against the published document. */
export interface CheckedClient {
  call(method: string, path: string, call?: Call): Promise<Reply>;
  readonly document: OpenApiDocument;
  close(): void;
}

/** The part of the document that tests read. */
export interface OpenApiDocument {
  readonly servers: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, ResponseObject>> };
}

interface ResponseObject {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, unknown>>;
}

/** One operation of it. */
export interface Operation {
  readonly operationId: string;
  readonly 'x-permission'?: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly schema: Record<string, unknown>;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-scope'];

/** Sends one request and reads its JSON. A reply that does not come within ten seconds fails. */
export function send(agent: Agent, method: string, url: string, call: Call = {}): Promise<Reply> {
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  const headers: Record<string, string> = { ...call.headers };
  if (call.key !== undefined) headers.authorization = `Bearer ${call.key}`;
  if (call.json !== undefined) headers['content-type'] ??= 'application/json';
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent, timeout: 10_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
          text,
        });
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no reply: ${method} ${url}`)));
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a client on a base address, whose document is at `documentUrl`. */
export async function openClient(
  baseUrl: string,
  documentUrl: string,
  documentKey?: string,
): Promise<CheckedClient> {
  // The server closes a connection that was idle for 8 to 12 seconds. A call on one that is closing would be reset. So
  // the document has a connection of its own: making its checks holds the thread for seconds.
  const agent = new Agent({ keepAlive: true, maxSockets: 16, timeout: IDLE_MS });
  const loaded = await send(new Agent(), 'GET', documentUrl, { key: documentKey });
  assert.equal(loaded.status, 200);
  const document = loaded.body as OpenApiDocument;
  // Documents of two services name other ports, and declare the same.
  const declaredText = loaded.text.replace(JSON.stringify(document.servers), '');
  const check = checkers.get(declaredText) ?? replyChecker(document);
  checkers.set(declaredText, check);
  return {
    document,
    async call(method, path, call) {
      const reply = await send(agent, method, baseUrl + path, call);
      check(method, path.split('?')[0] ?? '', reply);
      return reply;
    },
    close: () => agent.destroy(),
  };
}

/** Asserts that the document declares a reply so. */
type ReplyCheck = (method: string, path: string, reply: Reply) => void;

/** By what their documents declare: compiling what a document declares takes seconds. */
const checkers = new Map<string, ReplyCheck>();

function replyChecker(document: OpenApiDocument): ReplyCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(closedDocument(document), 'document');
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths).sort((one, other) => variables(one) - variables(other));

  /** Returns the declaration of a reply: with its operation, or among those that several share. */
  function declarationOf(
    path: readonly string[],
    declared: ResponseObject | { readonly $ref: string },
  ): { readonly at: readonly string[]; readonly response: ResponseObject } {
    if (!('$ref' in declared)) return { at: path, response: declared };
    const name = declared.$ref.replace('#/components/responses/', '');
    const response = document.components.responses[name];
    assert.ok(response, declared.$ref);
    return { at: ['components', 'responses', name], response };
  }

  function validator(path: readonly string[]): ValidateFunction {
    const pointer = [...path, 'content', 'application/json', 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const foundFunction = compiled.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` });
    compiled.set(pointer, foundFunction);
    return foundFunction;
  }

  return (method, path, reply) => {
    const template = templates.find((candidate) => matches(candidate, path));
    const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
    assert.ok(reply.headers['x-request-id'], 'every reply carries X-Request-Id');
    if (template === undefined || operation === undefined) {
      assert.ok(
        [404, 405, 413].includes(reply.status),
        `${method} ${path} is not documented: ${reply.status}`,
      );
      assert.equal(reply.body.success, false);
      return;
    }
    const declared = operation.responses[reply.status];
    assert.ok(
      declared,
      `${method} ${template} answered ${reply.status}, which is not documented: ${reply.text}`,
    );
    const place = ['paths', template, method.toLowerCase(), 'responses', String(reply.status)];
    const { at, response } = declarationOf(place, declared);
    checkHeaders(reply, response.headers);
    // A file has no schema.
    if (!('application/json' in response.content)) return;
    const validate = validator(at);
    const fits: boolean = validate(reply.body);
    assert.ok(fits, `${reply.text}\n${ajv.errorsText(validate.errors)}`);
    checkError(reply.body.error);
    checkManners(reply);
  };
}

/** Checks what any client of HTTP expects: a refusal explains how to ask, and a created resource has its location. */
function checkManners(reply: Reply): void {
  const code: unknown = reply.body.error?.code;
  const challenge = `Bearer realm="api"${code === 'API_KEY_MISSING' ? '' : ', error="invalid_token"'}`;
  assert.equal(reply.headers['www-authenticate'], reply.status === 401 ? challenge : undefined);
  const { id, statusUrl } = reply.body.data ?? {};
  if (statusUrl !== undefined && reply.status === 202) assert.equal(reply.headers.location, statusUrl);
  if (reply.body.data?.setupUrl !== undefined && reply.status === 201)
    assert.equal(reply.headers.location, `/api/v1/shops/${id}`);
}

/** The parts of an error that come with one code alone. */
function checkError(error: { code: string; fields?: unknown; candidates?: unknown } | undefined): void {
  assert.equal(error?.fields !== undefined, error?.code === 'VALIDATION_ERROR');
  assert.equal(error?.candidates !== undefined, error?.code === 'AMBIGUOUS_SHOP');
}

function checkHeaders(reply: Reply, declared: Readonly<Record<string, unknown>>): void {
  const names = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  for (const name of Object.keys(reply.headers).filter((header) => header.startsWith('x-')))
    assert.ok(names.has(name), `${name} is not documented`);
  const presentNames = RATE_HEADERS.filter((name) => name in reply.headers);
  assert.ok(
    presentNames.length === 0 || presentNames.length === 4,
    `rate headers come together: ${presentNames.join()}`,
  );
  const retryAfter: unknown = reply.body?.error?.retryAfter;
  assert.equal(reply.headers['retry-after'], retryAfter === undefined ? undefined : String(retryAfter));
}

function variables(template: string): number {
  return template.split('{').length;
}

function matches(template: string, path: string): boolean {
  const expected = template.split('/');
  const givenPaths = path.split('/');
  return (
    expected.length === givenPaths.length &&
    expected.every((part, index) =>
      part.startsWith('{') ? givenPaths[index] !== '' : part === givenPaths[index],
    )
  );
}
