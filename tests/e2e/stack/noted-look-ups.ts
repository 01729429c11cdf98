import { existsSync, readFileSync } from 'node:fs';

/** Runs in every thread of a process: writes down each name that is to be looked up, and looks it up. */
const PRELOADED = `
import dns from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
const note = (name) => isIP(name) === 0 && appendFileSync(process.env.NOTED_LOOK_UPS, name + '\\n');
const { lookup } = dns;
dns.lookup = (name, ...others) => { note(name); return lookup(name, ...others); };
for (const method of ['resolve4', 'resolve6']) {
  const resolve = Resolver.prototype[method];
  Resolver.prototype[method] = function (name) { note(name); return resolve.call(this, name); };
}
syncBuiltinESMExports();
`;

/** The environment of a process whose look-ups of names are written to a file. */
export function notingLookUps(file: string): Readonly<Record<string, string>> {
  const module = `data:text/javascript,${encodeURIComponent(PRELOADED)}`;
  return { NODE_OPTIONS: `--import=${module}`, NOTED_LOOK_UPS: file };
}

/** The names that were looked up so far, by whichever thread. */
export function notedLookUps(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
