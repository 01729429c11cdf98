/**
 * The client's types are generated from the API's document. If a change of the document breaks a caller, the caller's
 * program no longer compiles, and the compiler names the place.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ApiDocument, apiDocument, clientTypes } from '../../bin/generators/client-types.ts';
import { root } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-types-'));
after(() => rmSync(folder, { recursive: true }));

/** The parts of the document that a change is planted in. */
interface LooseSchema {
  properties: Record<string, object>;
  required: string[];
}
interface LooseEvents {
  readonly anyOf: { readonly properties: { type: { enum: string[] }; data: object } }[];
}
interface LooseDocument {
  readonly paths: Record<string, Record<string, LooseOperation>>;
  readonly components: { readonly schemas: Record<string, LooseSchema> };
}
interface LooseOperation {
  operationId: string;
  readonly requestBody: { readonly content: Record<string, { readonly schema: LooseSchema }> };
  readonly responses: Record<
    string,
    { readonly content: Record<string, { readonly example: { readonly data: unknown } }> }
  >;
}

/** A copy of the document to change. */
function copied(): LooseDocument {
  return JSON.parse(JSON.stringify(apiDocument())) as LooseDocument;
}

/** Returns the document's description of events of a type. */
function eventOf({ components }: LooseDocument, type: string): LooseEvents['anyOf'][number]['properties'] {
  const { anyOf } = components.schemas.Event as unknown as LooseEvents;
  const found = anyOf.find(({ properties }) => properties.type.enum.includes(type));
  assert.ok(found, type);
  return found.properties;
}

/** Returns the document's description of their data. */
function dataOf(document: LooseDocument, type: string): LooseSchema {
  return eventOf(document, type).data as LooseSchema;
}

/** A program of somebody who uses what the examples do not. */
const CALLER = `
import { ApiError, type Event, type Message, type MessagingClient } from 'tenant-messaging-client';

export async function use(api: MessagingClient, shop: string): Promise<Message | undefined> {
  const { data: policy } = await api.readPolicy({ idOrName: shop, to: '+33622220001' });
  if (policy.wouldAllow === false) return undefined;
  await api.declareContacts({ idOrName: shop, contacts: [{ phone: '+33622220001', note: policy.caps.perDay.toFixed() }] });
  try {
    const { data } = await api.sendMessage({ idOrName: shop, channel: 'msgapp', to: '+33622220001', text: 'Hello' });
    const message = await api.waitForMessage(data.id);
    return message.reason === 'EXPIRED' ? undefined : message;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'RECIPIENT_OPTED_OUT') return undefined;
    throw error;
  }
}

export function told(event: Event): string | null {
  switch (event.type) {
    case 'message.failed':
      return event.data.reason;
    case 'recipient.opted_out':
      return event.data.phone;
    case 'queue.paused':
      return event.data.pausedUntil;
    case 'channel.disconnected':
      return event.data.reason ?? null;
    default:
      return event.data.shopId;
  }
}
`;

let programs = 0;

/**
 * Resolves with the compiler's errors about the client, the examples and a caller, with the client made of this
 * document.
 */
function compile(document: LooseDocument, more: Readonly<Record<string, string>> = {}): Promise<string> {
  programs += 1;
  const place = join(folder, String(programs));
  mkdirSync(place);
  cpSync(join(root, 'client/src'), join(place, 'client/src'), { recursive: true });
  cpSync(join(root, 'examples'), join(place, 'examples'), { recursive: true });
  const files = {
    'package.json': '{ "type": "module" }',
    'caller.ts': CALLER,
    'client/src/operations.ts': clientTypes(document as unknown as ApiDocument),
    'tsconfig.json': JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        typeRoots: [join(root, 'node_modules/@types')],
        paths: { 'tenant-messaging-client': ['./client/src/index.ts'] },
      },
      include: ['client/src', 'examples', '*.ts'],
    }),
    ...more,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  return new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', place], (_, stdout) => resolve(stdout));
  });
}

test("the document's own examples are of the types, and every operation has a method", async () => {
  const document = copied();
  const examples = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(
          ([status, { content }]) => status.startsWith('2') && content['application/json'] !== undefined,
        )
        .map(([status, { content }]) => {
          const shownText = JSON.stringify(content['application/json']?.example.data);
          return `export const ${operationId}${status}: Operations['${operationId}']['data'] = ${shownText};\n`;
        }),
    );
  assert.ok(examples.length >= 20);
  const names = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => `api.${operationId};\n`),
  );
  const said = await compile(document, {
    'shown.ts': `import type { Operations } from 'tenant-messaging-client';\n${examples.join('')}`,
    'methods.ts': `import type { MessagingClient } from 'tenant-messaging-client';\nexport function use(api: MessagingClient): void {\n${names.join('')}}\n`,
  });
  assert.equal(said, '');
});

test('additions that a caller may meet compile: a field, an optional parameter, a code, an operation', async () => {
  const document = copied();
  const { schemas } = document.components;
  Object.assign(schemas.Message?.properties ?? {}, { deliveredAt: { type: 'string' } });
  (schemas.ErrorCode as unknown as { enum: string[] }).enum.push('BRAND_NEW');
  const send = document.paths['/shops/{idOrName}/messages']?.post;
  Object.assign(send?.requestBody.content['application/json']?.schema.properties ?? {}, {
    priority: { type: 'integer' },
  });
  const { post } = document.paths['/shops/{idOrName}/channels/msgapp/connect'] ?? {};
  assert.ok(post);
  document.paths['/shops/{idOrName}/channels/msgapp/pair'] = { post: { ...post, operationId: 'pairByCode' } };
  assert.equal(await compile(document), '');
});

/** Changes that break a caller, and what the compiler must name. */
const broken: readonly (readonly [
  change: string,
  plant: (document: LooseDocument) => unknown,
  named: RegExp,
])[] = [
  [
    'an operation is renamed',
    ({ paths }) => {
      const send = paths['/shops/{idOrName}/messages']?.post;
      if (send) send.operationId = 'queueMessage';
    },
    /caller\.ts.*Property 'sendMessage' does not exist/,
  ],
  [
    'a field of a reply is removed',
    ({ components }) => delete components.schemas.Message?.properties.reason,
    /caller\.ts.*Property 'reason' does not exist/,
  ],
  [
    'a field of a reply may be missing',
    ({ components }) => components.schemas.AcceptedMessage?.required.splice(0, 1),
    /caller\.ts.*'string \| undefined' is not assignable/,
  ],
  [
    'a parameter becomes required',
    ({ paths }) =>
      paths['/shops/{idOrName}/messages']?.post?.requestBody.content[
        'application/json'
      ]?.schema.required.push('mediaUrl'),
    /caller\.ts.*Property 'mediaUrl' is missing/,
  ],
  [
    'a parameter is removed',
    ({ paths }) =>
      delete paths['/shops/{idOrName}/messages']?.post?.requestBody.content['application/json']?.schema
        .properties.text,
    /caller\.ts.*'text' does not exist/,
  ],
  [
    'a field has another type',
    ({ components }) =>
      Object.assign(components.schemas.ShopPolicy?.properties ?? {}, { caps: { type: 'integer' } }),
    /caller\.ts.*Property 'perDay' does not exist/,
  ],
  [
    'an event tells a field no more',
    (document) => delete dataOf(document, 'queue.paused').properties.pausedUntil,
    /caller\.ts.*Property 'pausedUntil' does not exist/,
  ],
  [
    'an event may tell a field no more',
    (document) => dataOf(document, 'recipient.opted_out').required.splice(1, 1),
    /caller\.ts.*'string \| null \| undefined' is not assignable/,
  ],
  [
    'an event of a message tells something else',
    (document) => Object.assign(eventOf(document, 'message.failed'), { data: { type: 'object' } }),
    /caller\.ts.*Type 'unknown' is not assignable/,
  ],
  [
    'a type of event is no more',
    (document) => {
      const { enum: types } = eventOf(document, 'message.failed').type;
      types.splice(types.indexOf('message.failed'), 1);
    },
    /caller\.ts.*'"message.failed"' is not comparable/,
  ],
  [
    'a reason is no more',
    ({ components }) => {
      const { enum: reasons } = components.schemas.MessageReason as unknown as { enum: string[] };
      reasons.splice(reasons.indexOf('EXPIRED'), 1);
    },
    /caller\.ts.*'"EXPIRED"' have no overlap/,
  ],
  [
    'a status is no more',
    ({ components }) => {
      const { enum: states } = components.schemas.ChannelStatus as unknown as { enum: string[] };
      states.splice(states.indexOf('disconnected'), 1);
    },
    /connect-shop\.ts.*'"disconnected"' have no overlap/,
  ],
];

test('the compiler names the place of every change that breaks a caller', async (context) => {
  for (const [change, plant, namedPattern] of broken) {
    await context.test(change, async () => {
      const document = copied();
      plant(document);
      assert.match(await compile(document), namedPattern);
    });
  }
});

test('a document that the client cannot be made of is refused by name', () => {
  const document = copied();
  const send = document.paths['/shops/{idOrName}/messages']?.post;
  Object.assign(send?.requestBody.content['application/json']?.schema.properties ?? {}, {
    idOrName: { type: 'string' },
  });
  assert.throws(
    () => clientTypes(document as unknown as ApiDocument),
    /sendMessage: two parameters are called idOrName/,
  );
  const strange = copied();
  Object.assign(strange.components.schemas.Message?.properties ?? {}, { text: { oneOf: [] } });
  assert.throws(() => clientTypes(strange as unknown as ApiDocument), /do not know the keyword oneOf/);
});
