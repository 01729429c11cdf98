import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../testbed/root.ts';

/** The tools that bin/prepare-document-tools installs for the tests of this folder. */
export const TOOLS = join(root, 'tests/packages/chart-tools');
const run = promisify(execFile);

/** Why Helm is not here, or `false`: npm has its program for one platform alone. */
export const withoutHelm =
  process.platform === 'linux' && process.arch === 'x64'
    ? false
    : `npm has no Helm for ${process.platform} on ${process.arch}: the chart was not rendered`;

/** An object of Kubernetes, as far as tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads YAML, all documents of it, with `<<` as Compose reads it. Throws where it is none. */
export function readYaml(text: string): readonly unknown[] {
  const yaml = createRequire(join(TOOLS, 'package.json'))('yaml') as {
    readonly parseAllDocuments: (
      source: string,
      options: { readonly merge: boolean },
    ) => readonly {
      readonly errors: readonly Error[];
      readonly toJS: () => unknown;
    }[];
  };
  return yaml.parseAllDocuments(text, { merge: true }).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS();
  });
}

/** Starts Helm and resolves with its standard output. Rejects with its error output if it fails. */
export async function helm(...args: readonly string[]): Promise<string> {
  const own = join(root, '.tools/bin/helm');
  const { stdout } = await run(existsSync(own) ? own : 'helm', args, { cwd: root, maxBuffer: 16_000_000 });
  return stdout;
}

/**
 * Returns the objects that `helm template` makes of the chart. `args` are values, as Helm takes them. `release` is the
 * name of the release.
 */
export async function renderChart(
  args: readonly string[] = [],
  release = 'demo',
): Promise<readonly Manifest[]> {
  const text = await helm('template', release, 'deploy/helm', ...args);
  return readYaml(text).filter((manifest) => manifest !== null) as Manifest[];
}
