/**
 * The rules list which folder may import which, and where each large library is imported. `bin/check-imports.ts` checks
 * all files.
 */
import { dirname, join } from 'node:path';

/**
 * The imports that each module may have. A module is a folder with its own files; its subfolders are separate modules.
 * The simulator is an exception: all its folders are one module, because each handles the parts of one network.
 * The rows are in the order of the layers: a module may import only modules of rows above its own.
 *
 * The files of a folder are shared by its subfolders, or they compose them. Shared ones have their row above the
 * subfolders, which import them: `runtime`, `policy`, `actors`, `actors/shops`, `actors/sessions`, `http/tenant-api`.
 * Composing ones have their row below and import the subfolders: `http`, `actors/shops/turns`,
 * `actors/sessions/worker-thread`. The files of `actors/tenants` and `http/operator-api` have some subfolders above and
 * others below.
 */
const IMPORTS: Readonly<Record<string, string>> = {
  runtime: '',
  'runtime/ownership': 'runtime',
  'runtime/actor': 'runtime/ownership runtime',
  'runtime/redis': 'runtime',
  'runtime/node': 'runtime/redis runtime/actor runtime/ownership runtime',
  policy: 'runtime',
  'policy/limits': 'policy runtime',
  actors: 'policy runtime',
  'actors/reply-schemas': 'actors policy',
  'actors/tenants/stored-webhooks': 'runtime',
  'actors/tenants': 'actors/tenants/stored-webhooks actors/reply-schemas actors policy/limits policy runtime',
  'actors/tenants/turns': 'actors/tenants actors/tenants/stored-webhooks actors policy/limits policy runtime',
  'actors/tenants/operations': 'actors/tenants actors/reply-schemas actors policy/limits runtime',
  'actors/shops': 'actors/reply-schemas actors policy runtime',
  'actors/tenants/stored-events': 'actors/reply-schemas actors/tenants actors runtime',
  'actors/events':
    'actors/shops actors/tenants/stored-events actors/tenants actors/reply-schemas actors runtime',
  'actors/sessions': 'actors runtime',
  'actors/shops/machines': 'actors/sessions actors runtime',
  'actors/shops/records': 'actors/shops actors/tenants actors policy runtime',
  'actors/shops/texts': 'policy',
  'actors/shops/state': `
    actors/shops/records actors/shops/machines actors/sessions actors/shops actors/tenants actors policy
    runtime`,
  'actors/shops/reading': `
    actors/shops/state actors/shops/records actors/shops actors/tenants actors policy runtime`,
  'actors/shops/judging': `
    actors/shops/reading actors/shops/state actors/shops/records actors/shops/machines actors/shops
    actors policy runtime`,
  'actors/shops/number-past': `
    actors/shops/state actors/shops/records actors/shops/machines actors/shops actors/tenants policy
    runtime`,
  'actors/shops/protocol': `
    actors/shops/state actors/shops/records actors/shops/machines actors/sessions actors/shops actors
    policy runtime`,
  'actors/shops/turns/builder': `
    actors/shops/protocol actors/shops/judging actors/shops/state actors/shops/records
    actors/shops/machines actors/tenants/stored-events actors/reply-schemas actors policy runtime`,
  'actors/shops/turns/people': `
    actors/shops/turns/builder actors/shops/state actors/shops/records actors/sessions policy runtime`,
  'actors/shops/turns/number': `
    actors/shops/turns/people actors/shops/turns/builder actors/shops/protocol actors/shops/number-past
    actors/shops/judging actors/shops/state actors/shops/records actors/shops/machines actors/sessions
    actors/tenants policy runtime`,
  'actors/shops/turns/pool': `
    actors/shops/turns/number actors/shops/turns/builder actors/shops/protocol actors/shops/judging
    actors/shops/reading actors/shops/state actors/shops/records actors/shops/machines actors/shops
    actors policy`,
  'actors/shops/pool-link': `
    actors/shops/protocol actors/shops/reading actors/shops/state actors/shops/texts
    actors/shops/records actors/shops actors/tenants policy runtime/node runtime`,
  'actors/shops/effects': `
    actors/shops/pool-link actors/shops/protocol actors/shops/number-past actors/shops/state
    actors/shops/texts actors/shops/records actors/shops/machines actors/sessions actors/shops
    actors/tenants actors runtime`,
  'actors/shops/erasure': `
    actors/shops/effects actors/shops/pool-link actors/shops/number-past actors/shops/reading
    actors/shops/state actors/shops/records actors/sessions actors/shops
    actors/tenants/stored-events actors/tenants actors policy runtime`,
  'actors/shops/turns/send': `
    actors/shops/turns/pool actors/shops/turns/number actors/shops/turns/builder
    actors/shops/protocol actors/shops/judging actors/shops/reading actors/shops/state
    actors/shops/texts actors/shops/records actors/shops/machines actors/shops actors policy runtime`,
  'actors/shops/turns/dispatch': `
    actors/shops/turns/pool actors/shops/turns/people actors/shops/turns/builder
    actors/shops/protocol actors/shops/judging actors/shops/reading actors/shops/state
    actors/shops/records actors/sessions actors/tenants actors policy runtime`,
  'actors/shops/turns/cancel': `
    actors/shops/turns/pool actors/shops/turns/number actors/shops/turns/builder
    actors/shops/protocol actors/shops/judging actors/shops/reading actors/shops/state
    actors/shops/records actors policy runtime`,
  'actors/shops/turns/scheduled': `
    actors/shops/turns/send actors/shops/turns/builder actors/shops/protocol actors/shops/judging
    actors/shops/reading actors/shops/state actors/shops actors policy runtime`,
  'actors/shops/turns/batches': `
    actors/shops/turns/send actors/shops/turns/builder actors/shops/protocol actors/shops/judging
    actors/shops/reading actors/shops/state actors/shops/texts actors/shops/records actors/shops
    actors policy runtime`,
  'actors/shops/turns/inbound': `
    actors/shops/turns/batches actors/shops/turns/pool actors/shops/turns/people
    actors/shops/turns/builder actors/shops/protocol actors/shops/judging actors/shops/reading
    actors/shops/state actors/shops/records actors/sessions actors/shops actors policy`,
  'actors/shops/turns': `
    actors/shops/turns/batches actors/shops/turns/inbound actors/shops/turns/cancel
    actors/shops/turns/scheduled actors/shops/turns/dispatch actors/shops/turns/send
    actors/shops/turns/pool actors/shops/turns/number actors/shops/turns/people
    actors/shops/turns/builder actors/shops/protocol actors/shops/judging actors/shops/reading
    actors/shops/state actors/shops/records actors/shops/machines actors/sessions actors/shops
    actors/tenants/stored-events actors/tenants actors policy runtime`,
  'actors/shops/operations': `
    actors/shops/effects actors/shops/pool-link actors/shops/protocol actors/shops/judging
    actors/shops/reading actors/shops/state actors/shops/records actors/shops/machines
    actors/sessions actors/shops actors/tenants actors/reply-schemas actors policy runtime`,
  'actors/shops/inspection': `
    actors/shops/turns actors/shops/effects actors/shops/state actors/shops/records
    actors/shops/machines actors/sessions actors policy runtime`,
  'actors/operators': `
    actors/shops/inspection actors/shops/operations actors/shops/state
    actors/shops/records actors/sessions actors/shops actors/tenants actors/reply-schemas actors
    runtime/node runtime`,
  'actors/outbound': 'actors runtime',
  'actors/sessions/main-thread': 'actors/outbound actors/sessions actors runtime',
  'actors/sessions/worker-thread/store': 'actors/sessions runtime',
  'actors/sessions/worker-thread/wire': 'actors/sessions actors',
  'actors/sessions/worker-thread/shared': `
    actors/sessions/worker-thread/wire actors/sessions/worker-thread/store actors/outbound
    actors/sessions runtime`,
  'actors/sessions/worker-thread/keys': `
    actors/sessions/worker-thread/shared actors/sessions/worker-thread/wire
    actors/sessions/worker-thread/store actors/sessions runtime`,
  'actors/sessions/worker-thread/attachments': 'actors/outbound actors/sessions actors runtime',
  'actors/sessions/worker-thread/sending': `
    actors/sessions/worker-thread/attachments actors/sessions/worker-thread/keys
    actors/sessions/worker-thread/shared actors/sessions/worker-thread/wire
    actors/sessions/worker-thread/store actors/outbound actors/sessions runtime`,
  'actors/sessions/worker-thread/retries': `
    actors/sessions/worker-thread/sending actors/sessions/worker-thread/keys
    actors/sessions/worker-thread/shared actors/sessions/worker-thread/wire actors runtime`,
  'actors/sessions/worker-thread/connection': `
    actors/sessions/worker-thread/retries actors/sessions/worker-thread/sending
    actors/sessions/worker-thread/keys actors/sessions/worker-thread/shared
    actors/sessions/worker-thread/wire actors/sessions/worker-thread/store actors/outbound
    actors/sessions runtime`,
  'actors/sessions/worker-thread/inbound': `
    actors/sessions/worker-thread/keys actors/sessions/worker-thread/shared
    actors/sessions/worker-thread/wire actors/sessions actors runtime`,
  'actors/sessions/worker-thread': `
    actors/sessions/worker-thread/inbound actors/sessions/worker-thread/connection
    actors/sessions/worker-thread/retries actors/sessions/worker-thread/sending
    actors/sessions/worker-thread/keys actors/sessions/worker-thread/shared
    actors/sessions/worker-thread/wire actors/sessions/worker-thread/store actors/outbound
    actors/sessions actors runtime`,
  'actors/webhooks': `
    actors/outbound actors/events actors/shops actors/tenants/stored-events actors/tenants
    actors/tenants/stored-webhooks actors/reply-schemas actors runtime`,
  'http/contract': 'actors/shops actors/tenants actors/reply-schemas actors policy/limits policy runtime',
  'http/bodies':
    'http/contract actors/webhooks actors/shops actors/tenants/stored-events actors/reply-schemas',
  'http/request-log': 'http/contract actors/reply-schemas runtime',
  'http/pipeline': 'http/contract runtime',
  'http/socket': 'http/pipeline http/contract',
  'http/owner': 'http/pipeline http/contract actors/tenants actors runtime',
  'http/articles': 'http/pipeline http/contract actors/tenants/stored-events policy/limits policy runtime',
  'http/tenant-api': `
    http/articles http/bodies http/contract actors/webhooks actors/events actors/tenants/stored-events
    actors/shops actors/tenants actors/reply-schemas actors policy runtime`,
  'http/tenant-api/event-streams': `
    http/tenant-api http/owner http/contract actors/tenants/stored-events actors runtime`,
  'http/tenant-api/edge': `
    http/tenant-api/event-streams http/tenant-api http/owner http/pipeline http/contract actors/outbound
    actors/tenants actors runtime`,
  'http/audit-log': 'http/request-log actors/reply-schemas runtime',
  'http/console': 'http/pipeline http/contract actors/tenants/stored-events actors',
  'http/operator-events': 'http/owner http/contract actors runtime',
  'http/metrics': `
    http/operator-events http/contract actors/webhooks actors/shops/inspection actors/shops/protocol
    actors/sessions actors runtime/node runtime`,
  'http/openapi': 'http/tenant-api http/pipeline http/contract actors',
  'http/operator-api/schemas': 'http/operator-events actors/shops/inspection actors/reply-schemas actors',
  'http/operator-api/fleet': `
    http/operator-api/schemas http/metrics http/owner actors/operators actors/shops/inspection
    actors/reply-schemas runtime`,
  'http/operator-api': `
    http/operator-api/fleet http/operator-api/schemas http/audit-log http/owner
    http/request-log http/bodies http/contract actors/webhooks actors/operators actors/shops/inspection
    actors/shops actors/tenants actors/reply-schemas actors policy/limits policy`,
  'http/operator-api/edge': `
    http/operator-api http/operator-api/schemas http/openapi http/metrics http/operator-events
    http/audit-log http/owner http/pipeline http/request-log http/contract actors/reply-schemas actors
    runtime`,
  http: `
    http/operator-api/edge http/operator-api http/operator-api/fleet http/openapi http/metrics
    http/operator-events http/console http/audit-log http/tenant-api/edge http/tenant-api/event-streams
    http/tenant-api http/articles http/owner http/socket http/pipeline http/request-log http/contract
    actors/webhooks actors/operators actors/events actors/outbound actors/shops actors/tenants actors
    runtime`,
  simulator: '',
  // A separate package, which callers of the API install.
  'client/src': '',
  // They import the client by the name of its package, as callers do.
  examples: '',
};

/** The modules that each module may import. */
export const allowedImports: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(IMPORTS).map(([module, imports]) => [module, imports.match(/\S+/g) ?? []]),
);

/**
 * The folders that may import everything of ours. No module of the table imports them: the service, the programs of
 * `service/dev` that run a whole installation on one machine, and the commands. `service` does not import
 * `service/dev`.
 */
const UNBOUND: readonly string[] = ['service', 'service/dev', 'bin', 'bin/gate', 'bin/generators'];

/**
 * The folders around the program, with all below them. Each may import any folder that is not in this list, any
 * library, and the folders before it in the list. So benches share a test bed with tests, and import no other part of
 * them. The program imports none.
 */
const AROUND: readonly string[] = ['tests/testbed', 'bench', 'tests'];

/**
 * The modules or files that may import a library. The name of a library includes all packages below that name. Nothing
 * imports `node:process`, because `process` is there without an import.
 */
export const LIBRARY_PLACES: Readonly<Record<string, readonly string[]>> = {
  '@opentelemetry': ['service/otlp-tracing.ts'],
  '@uwsjs': ['http/socket/uwebsockets.ts'],
  '@whiskeysockets': ['actors/sessions/worker-thread', 'simulator'],
  'agent-base': ['actors/outbound/egress.ts'],
  'https-proxy-agent': ['actors/outbound/egress.ts'],
  'socks-proxy-agent': ['actors/outbound/egress.ts'],
  libsignal: ['actors/sessions/worker-thread/keys/client-curve.ts'],
  'whatsapp-rust-bridge': ['actors/sessions/worker-thread/keys/client-curve.ts'],
  ioredis: ['runtime/redis', 'runtime/redis-address.ts'],
  marked: ['http/articles'],
  pino: ['service/process-log.ts'],
  piscina: ['actors/sessions/main-thread/qr-image.ts'],
  'prom-client': ['http/metrics/metrics.ts'],
  qrcode: ['actors/sessions/main-thread/qr-image-worker.ts'],
  redis: ['actors/operators/directory-connection.ts'],
  'redis-om': ['actors/operators/directory-connection.ts', 'actors/operators/operators-directory.ts'],
  sharp: ['actors/sessions/worker-thread/attachments'],
  xstate: ['actors/shops/machines'],
  'node:process': [],
};

/** Modules of Node through which the policy could do I/O or read the time. */
const NOT_PURE = [
  ...['node:fs', 'node:net', 'node:http', 'node:https', 'node:timers'],
  ...['node:child_process', 'node:worker_threads'],
];

/** All modules of the program. */
export const modules: readonly string[] = [...Object.keys(allowedImports), ...UNBOUND];

/** The folders at the root of the repository that hold modules of the program. */
export const TOP_FOLDERS: readonly string[] = [...new Set(modules.map(topOf))];

/** The folders at the root of the repository whose imports are checked. */
export const CHECKED_FOLDERS: readonly string[] = [...new Set([...modules, ...AROUND].map(topOf))];

/** Matches each form of an import: `import`, `export … from`, `import()`, `require()` and `createRequire(…)()`. */
const IMPORT =
  /\b(?:(?:from|import|require)\b|createRequire\(import\.meta\.url\))\s*\(?\s*(['"`])([^'"`\n]+)\1/g;

/** Matches a line that is a comment. Types in the comments of the console's pages are not imports. */
const COMMENT_LINE = /^\s*(?:\/?\*|\/\/).*$/gm;

/** Returns a sentence for each import in the text of this file that the tables refuse. */
export function refusedImports(path: string, text: string): readonly string[] {
  return importsIn(text)
    .filter((specifier) =>
      specifier.startsWith('.') ? !mayImport(path, specifier) : !mayUse(path, specifier),
    )
    .map((specifier) => `${path} must not import ${specifier}: see bin/gate/import-rules.ts`);
}

/** Returns what a file with this text imports, as it is written there. */
export function importsIn(text: string): readonly string[] {
  return [...text.replace(COMMENT_LINE, '').matchAll(IMPORT)].map(([, , specifier = '']) => specifier);
}

function mayImport(path: string, specifier: string): boolean {
  const module = moduleOf(path);
  if (module === undefined) return false;
  const target = moduleOf(join(dirname(path), specifier));
  if (AROUND.includes(module)) return AROUND.indexOf(target ?? '') <= AROUND.indexOf(module);
  if (target !== undefined && AROUND.includes(target)) return false;
  if (UNBOUND.includes(module)) return module !== 'service' || target !== 'service/dev';
  return target !== undefined && (module === target || !!allowedImports[module]?.includes(target));
}

function mayUse(path: string, specifier: string): boolean {
  if (AROUND.some((folder) => isBelow(path, folder))) return true;
  if (isBelow(path, 'policy') && NOT_PURE.some((name) => isBelow(specifier, name))) return false;
  return Object.entries(LIBRARY_PLACES).every(
    ([library, places]) => !isBelow(specifier, library) || places.some((place) => isBelow(path, place)),
  );
}

/** Returns the module that a file is in; a folder that is not in the table belongs to the module above it. */
function moduleOf(path: string): string | undefined {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    if (modules.includes(folder) || AROUND.includes(folder)) return folder;
  return undefined;
}

function topOf(folder: string): string {
  return folder.replace(/\/.*/, '');
}

/** True if a path, or the name of a package, is this one or below it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
