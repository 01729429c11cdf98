import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as v from 'valibot';
import { ControlFailure } from './control-failure.ts';
import { readInput, refuseField } from './control-input.ts';

/** The answer to a call: `data` in the envelope. The default status is 200. */
export interface ControlReply {
  readonly status?: number;
  readonly data: unknown;
}

/** A control call: method, path with `{named}` parts, and handler. */
export interface ControlRoute {
  readonly method: string;
  readonly path: string;
  /** `path`: its named parts, decoded. `fields`: those of the query for GET, else those of the body. */
  handle(
    path: Readonly<Record<string, string>>,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<ControlReply>;
}

/** Returns a call, `GET /path`, that takes the fields of `entries`. They include the named parts of the path. */
export function route<Entries extends v.ObjectEntries>(
  call: string,
  entries: Entries,
  handle: (input: v.InferOutput<v.ObjectSchema<Entries, undefined>>) => ControlReply | Promise<ControlReply>,
): ControlRoute {
  const [method = '', path = ''] = call.split(' ');
  return { method, path, handle: async (parts, fields) => handle(readInput(entries, parts, fields)) };
}

const MOST_BODY_BYTES = 1024 * 1024;
/** The base URL against which a request's path is parsed. */
const BASE = 'http://simulator';

/** Answers requests from `routes` in the envelope. An unexpected error is answered 500 and reported. */
export function controlListener({
  routes,
  settled,
  report,
}: {
  readonly routes: readonly ControlRoute[];
  /** Resolves once earlier changes survive a kill of the process. No answer is sent before that. */
  readonly settled: () => Promise<void>;
  readonly report: (error: unknown) => void;
}): (request: IncomingMessage, response: ServerResponse) => void {
  const matchers = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (request, response) => {
    run(matchers, request)
      .then(async ({ status = 200, data }) => {
        await settled();
        send(response, status, { success: true, data });
      })
      .catch((error: unknown) => {
        if (!(error instanceof ControlFailure)) report(error);
        const failure =
          error instanceof ControlFailure
            ? error
            : new ControlFailure(500, 'INTERNAL_ERROR', 'The simulator failed; its log says how.');
        const { status, code, message, fields } = failure;
        send(response, status, {
          success: false,
          error: { code, message, ...(fields === undefined ? {} : { fields }) },
        });
      });
  };
}

async function run(
  matchers: readonly { route: ControlRoute; pattern: RegExp }[],
  request: IncomingMessage,
): Promise<ControlReply> {
  const target = request.url ?? '/';
  if (!URL.canParse(target, BASE))
    throw new ControlFailure(404, 'NOT_FOUND', `There is nothing at ${target}.`);
  const url = new URL(target, BASE);
  const matches = matchers.filter(({ pattern }) => pattern.test(url.pathname));
  if (matches.length === 0)
    throw new ControlFailure(404, 'NOT_FOUND', `There is nothing at ${url.pathname}.`);
  const match = matches.find(({ route }) => route.method === request.method);
  if (!match) {
    const allowed = matches.map(({ route }) => route.method).join(', ');
    throw new ControlFailure(405, 'METHOD_NOT_ALLOWED', `This path takes ${allowed}.`);
  }
  const isRead = request.method === 'GET';
  const path = match.pattern.exec(url.pathname)?.groups ?? {};
  return match.route.handle(
    Object.fromEntries(Object.entries(path).map(([name, part]) => [name, decode(part)])),
    isRead ? Object.fromEntries(url.searchParams) : await readBody(request),
  );
}

/** Returns the pattern of a path, with a group for each named part. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]*)')}$`);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > MOST_BODY_BYTES) throw new ControlFailure(413, 'PAYLOAD_TOO_LARGE', 'The body is over 1 MiB.');
    chunks.push(chunk);
  }
  if (size === 0) return {};
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw refuseField('', 'must be JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refuseField('', 'must be a JSON object');
  return body as Record<string, unknown>;
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
