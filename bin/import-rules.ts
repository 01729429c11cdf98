import { dirname, join } from 'node:path';

/**
 * The rules say which room may import which, and where each large library is imported. `bin/check-imports.ts` checks
 * all files.
 */

/**
 * What each room may import. A room is a folder; its own files are the room, its subfolders are rooms of their
 * own.
 */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  'runtime/ownership': ['runtime'],
  'runtime/redis': ['runtime'],
  'runtime/actor': ['runtime', 'runtime/ownership'],
  'runtime/node': ['runtime', 'runtime/actor', 'runtime/ownership', 'runtime/redis'],
  policy: ['runtime'],
  actors: ['policy', 'runtime'],
  'actors/outbound': [],
  'actors/session': ['runtime'],
  'actors/session/main-thread': ['actors/session', 'runtime'],
  'actors/session/worker-thread': ['actors/outbound', 'actors/session', 'runtime'],
  'actors/session/memory': ['actors/session', 'runtime'],
  'actors/tenant': ['actors', 'policy', 'runtime'],
  'actors/shop/machines': ['actors', 'actors/session', 'runtime'],
  'actors/shop/record': [
    ...['actors', 'actors/session', 'actors/shop/machines', 'actors/tenant'],
    ...['policy', 'runtime'],
  ],
  'actors/shop/turn': [
    ...['actors', 'actors/session', 'actors/shop/machines', 'actors/shop/record', 'actors/tenant'],
    ...['policy', 'runtime'],
  ],
  'actors/shop/effect': [
    ...['actors', 'actors/session', 'actors/shop/machines', 'actors/shop/record', 'actors/shop/turn'],
    ...['actors/tenant', 'policy', 'runtime', 'runtime/actor', 'runtime/node'],
  ],
  'actors/shop/view': [
    ...['actors', 'actors/shop/machines', 'actors/shop/record', 'actors/shop/turn'],
    ...['actors/shop/effect', 'actors/tenant', 'policy', 'runtime'],
  ],
  'actors/webhooks': [
    ...['actors', 'actors/outbound', 'actors/shop/record', 'actors/shop/view', 'actors/tenant', 'runtime'],
  ],
  'actors/operators': [
    ...['actors', 'actors/session', 'actors/shop/machines', 'actors/shop/record', 'actors/shop/turn'],
    ...['actors/shop/effect', 'actors/shop/view', 'actors/tenant'],
    ...['policy', 'runtime', 'runtime/node', 'runtime/redis'],
  ],
  'http/contract': ['actors', 'actors/shop/record', 'actors/tenant', 'policy', 'runtime'],
  'http/request-log': ['runtime', 'runtime/redis'],
  'http/audit-log': ['http/request-log', 'runtime', 'runtime/redis'],
  'http/owner': ['http/contract', 'actors/tenant', 'runtime'],
  'http/pipeline': ['http/contract', 'http/request-log', 'runtime'],
  'http/console': ['http/contract', 'http/pipeline', 'actors/tenant'],
  'http/events': ['http/contract', 'http/owner', 'actors', 'runtime'],
  'http/metrics': ['http/contract', 'http/events', 'http/request-log', 'actors', 'runtime'],
  'http/tenant-api': [
    ...['http/contract', 'http/owner', 'http/pipeline'],
    ...['actors', 'actors/shop/record', 'actors/tenant', 'policy', 'runtime'],
  ],
  'http/openapi': ['http/contract', 'http/pipeline', 'http/tenant-api'],
  'http/articles': ['http/contract', 'http/pipeline', 'http/tenant-api'],
  'http/operator-api': [
    ...['http/audit-log', 'http/contract', 'http/events', 'http/metrics', 'http/openapi', 'http/owner'],
    ...['http/pipeline', 'http/request-log'],
    ...['actors', 'actors/operators', 'actors/shop/machines', 'actors/shop/record', 'actors/shop/view'],
    ...['actors/tenant', 'actors/webhooks', 'policy', 'runtime'],
  ],
  http: [
    ...['http/articles', 'http/audit-log', 'http/console', 'http/contract', 'http/events', 'http/metrics'],
    ...['http/openapi', 'http/operator-api', 'http/owner', 'http/pipeline', 'http/request-log'],
    ...['http/tenant-api'],
    ...['actors/operators', 'actors/shop/record', 'actors/tenant', 'actors/webhooks', 'runtime'],
  ],
  simulator: [],
  // A package of its own: what callers of the API install.
  'client/src': [],
};

/** The composition of a node may import everything of ours, and is imported by nobody. */
const COMPOSITION = 'bin';

/** A library that has one place, with all below its name, and the rooms or files that are that place. */
const LIBRARY_PLACES: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['http/server.ts'],
  '@whiskeysockets': ['actors/session/worker-thread', 'simulator'],
  libsignal: ['actors/session/worker-thread', 'simulator'],
  'whatsapp-rust-bridge': ['actors/session/worker-thread'],
  ioredis: ['runtime/redis'],
  marked: ['http/articles'],
  'redis-om': ['actors/operators'],
  'node:process': [COMPOSITION],
};

/** Modules through which the policy could do I/O or read the time. */
const NOT_PURE = [
  ...['pino', 'node:fs', 'node:net', 'node:http', 'node:https', 'node:timers'],
  ...['node:child_process', 'node:worker_threads'],
];

/** All rooms of the table. */
export const rooms: readonly string[] = [...Object.keys(allowedImports), COMPOSITION];

/** The folders at the root of the repository that hold rooms. */
export const TOP_FOLDERS: readonly string[] = [...new Set(rooms.map((room) => room.replace(/\/.*/, '')))];

/** Matches each form of an import: `import`, `export … from`, `import()` and `require()`. */
const IMPORT = /\b(?:from|import|require)\b\s*\(?\s*(['"`])([^'"`\n]+)\1/g;

/** Matches a line that is a comment. Types in the comments of the console's pages are not imports. */
const COMMENT_LINE = /^\s*(?:\/?\*|\/\/).*$/gm;

/** Returns a sentence for each import in the text of this file that the tables refuse. */
export function refusedImports(path: string, text: string): readonly string[] {
  return [...text.replace(COMMENT_LINE, '').matchAll(IMPORT)]
    .map(([, , specifier = '']) => specifier)
    .filter((specifier) =>
      specifier.startsWith('.') ? !mayImport(path, specifier) : !mayUse(path, specifier),
    )
    .map((specifier) => `${path} must not import ${specifier}: see bin/import-rules.ts`);
}

function mayImport(path: string, specifier: string): boolean {
  const room = roomOf(path);
  if (room === COMPOSITION) return true;
  const target = roomOf(join(dirname(path), specifier));
  return (
    room !== undefined &&
    target !== undefined &&
    (room === target || !!allowedImports[room]?.includes(target))
  );
}

function mayUse(path: string, specifier: string): boolean {
  if (isBelow(path, 'policy') && NOT_PURE.some((name) => isBelow(specifier, name))) return false;
  return Object.entries(LIBRARY_PLACES).every(
    ([library, places]) => !isBelow(specifier, library) || places.some((place) => isBelow(path, place)),
  );
}

/** Returns the room that a file is in; a folder that is not in the table belongs to the room above it. */
function roomOf(path: string): string | undefined {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    if (rooms.includes(folder)) return folder;
  return undefined;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
