import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../testbed/root.ts';

const run = promisify(execFile);

/** A folder with programs of somebody who installed the client. */
export interface InstalledClient {
  /** The folder of the programs. */
  readonly folder: string;
  /** Paths of everything in the package. */
  readonly packed: readonly string[];
  /** Resolves with the compiler's output for the programs, against the types of the package. */
  compile(): Promise<string>;
}

/**
 * Packs the client as `npm pack` does and installs the tarball in an empty folder, from no registry. Copies the
 * programs of `examples/` beside it.
 */
export async function installClient(folder: string): Promise<InstalledClient> {
  const quiet = ['--silent', '--no-audit', '--no-fund', '--offline'];
  const words = ['pack', '--json', '--pack-destination', folder, join(root, 'client')];
  const { stdout } = await run('npm', [...words, '--loglevel=error'], { cwd: root });
  // The output of prepack comes before the report.
  const report = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as readonly {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  const [tarball] = report;
  if (tarball === undefined) throw new Error(`npm pack reported nothing: ${stdout}`);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', ...quiet, `./${tarball.filename}`], { cwd: folder });
  mkdirSync(join(folder, 'examples'));
  cpSync(join(root, 'examples'), join(folder, 'examples'), {
    recursive: true,
    filter: (path) => !path.endsWith('package.json') && !path.includes('node_modules'),
  });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        paths: {},
        // The declarations of the package are checked too.
        skipLibCheck: false,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['examples'],
    }),
  );
  return {
    folder,
    packed: tarball.files.map(({ path }) => path),
    async compile() {
      const compiler = join(root, 'node_modules/.bin/tsc');
      const { stdout: said } = await run(compiler, ['-p', folder]).catch(
        (failure: { readonly stdout: string }) => failure,
      );
      return said;
    },
  };
}
