/**
 * Who may import whom, room by room. The linter's overrides are made from this table (`npm run import-rules`
 * writes them into the file that biome.json extends), and tests/bin/import-rules.test.ts plants a breach of
 * every arrow that is missing here.
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
    ...['policy', 'runtime', 'runtime/actor', 'runtime/node', 'runtime/redis'],
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

/** A library that has one place, and the rooms or files that are that place. */
const LIBRARY_PLACES: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['http/server.ts'],
  '@whiskeysockets/*': ['actors/session/worker-thread', 'simulator'],
  libsignal: ['actors/session/worker-thread', 'simulator'],
  'whatsapp-rust-bridge': ['actors/session/worker-thread'],
  ioredis: ['runtime/redis'],
  marked: ['http/articles'],
  'redis-om': ['actors/operators'],
  'node:process': [COMPOSITION],
};

/** Modules through which the policy could do I/O or read the time. */
const NOT_PURE = [
  ...['pino', 'node:fs', 'node:fs/*', 'node:net', 'node:http', 'node:https', 'node:timers', 'node:timers/*'],
  ...['node:child_process', 'node:worker_threads'],
];

/** One override of the linter's configuration. */
export interface ImportOverride {
  readonly includes: readonly [string];
  readonly linter: object;
}

/** An import that the linter must refuse: a file of `room` that imports a file of `target`. */
export interface Breach {
  readonly room: string;
  readonly target: string;
}

/** All rooms of the table. */
export const rooms: readonly string[] = [...Object.keys(allowedImports), COMPOSITION];

/** Every pair of rooms without an arrow. */
export function breaches(): readonly Breach[] {
  return Object.entries(allowedImports).flatMap(([room, imports]) =>
    rooms
      .filter((target) => target !== room && !imports.includes(target))
      .map((target) => ({ room, target })),
  );
}

/**
 * The linter overrides that refuse every breach; a later one replaces an earlier one that holds for the same
 * file.
 */
export function importOverrides(): readonly ImportOverride[] {
  const folders = Object.keys(allowedImports).sort((a, b) => a.split('/').length - b.split('/').length);
  const files = Object.values(LIBRARY_PLACES)
    .flat()
    .filter((place) => place.endsWith('.ts'));
  return [
    ...folders.map((room) => override(room)),
    ...files.map((file) => override(file)),
    override(COMPOSITION),
  ];
}

function override(place: string): ImportOverride {
  const isFile = place.endsWith('.ts');
  const room = isFile ? place.slice(0, place.lastIndexOf('/')) : place;
  const libraries = Object.keys(LIBRARY_PLACES).filter((name) => !LIBRARY_PLACES[name]?.includes(place));
  const patterns = [
    { group: roomPatterns(room), message: `${room} does not import that room: see bin/import-rules.ts.` },
    {
      group: room === 'policy' ? [...libraries, ...NOT_PURE] : libraries,
      message: 'This library has one place: see bin/import-rules.ts.',
    },
  ].filter(({ group }) => group.length > 0);
  return {
    includes: [isFile ? place : `${place}/**`],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns } } } } },
  };
}

/** Globs over what an import of a forbidden room looks like from a file of this one. */
function roomPatterns(room: string): string[] {
  const imports = allowedImports[room];
  if (imports === undefined) return [];
  const forbidden = rooms.filter((target) => target !== room && !imports.includes(target));
  return forbidden
    .filter(
      (target) =>
        !forbidden.some((above) => covers(above, { room, imports }) && target.startsWith(`${above}/`)),
    )
    .flatMap((target) => patternOf(room, target, imports));
}

function patternOf(room: string, target: string, imports: readonly string[]): string[] {
  // From below, the files of a room above are all that the dots leave.
  if (room.startsWith(`${target}/`)) {
    const up = '../'.repeat(room.split('/').length - target.split('/').length);
    return [`${up}*.ts`];
  }
  const name = target.split('/').at(-1);
  return [isWhole(target, imports) ? `**/${name}/**` : `**/${name}/*.ts`];
}

/** Whether the glob of a forbidden room refuses the rooms below it, too. */
function covers(above: string, { room, imports }: { room: string; imports: readonly string[] }): boolean {
  return isWhole(above, imports) && !room.startsWith(`${above}/`);
}

/** Whether nothing below this room may be imported either. */
function isWhole(target: string, imports: readonly string[]): boolean {
  return !imports.some((allowed) => allowed.startsWith(`${target}/`));
}
