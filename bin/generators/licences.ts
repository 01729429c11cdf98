/** A package's entry in a lock file. */
export interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** A package of the image. */
export interface ImagePackage {
  /** Its folder under `node_modules`. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/**
 * The duties of each licence for anyone who passes the image on. A package under another one is refused until it is
 * looked at.
 */
const DUTIES: Readonly<Record<string, string>> = {
  '0BSD': 'Nothing.',
  'Apache-2.0': 'Keep the licence, and the notices if there are any.',
  'BlueOak-1.0.0': 'Keep the licence or a link to it.',
  'BSD-3-Clause': 'Keep the notice of copyright and the licence.',
  'GPL-3.0':
    'If you give others a copy, offer them the whole program under GPL-3.0, with its source. A service that others only call is no copy.',
  ISC: 'Keep the notice of copyright and the licence.',
  'LGPL-3.0-or-later':
    'Keep the notices, and let users replace the library. It is a shared library in a separate folder.',
  MIT: 'Keep the notice of copyright and the licence.',
};

/** Returns the packages of the image, for each platform that it is built for. Throws for one without a licence. */
export function imagePackages(packages: Readonly<Record<string, LockedPackage>>): readonly ImagePackage[] {
  return Object.entries(packages).flatMap(([folder, lockedPackage]) => {
    const name = folder.replace(/^.*node_modules\//, '');
    if (folder === '' || lockedPackage.dev === true || !isInImage(name, lockedPackage)) return [];
    // The registry used here has no server for arm64, so the lock file has nothing but its name.
    const licence = lockedPackage.license ?? packages[folder.replace('linux-arm64', 'linux-x64')]?.license;
    if (licence === undefined) throw new Error(`${name} has no licence in package-lock.json`);
    return [{ folder, name, version: lockedPackage.version, licence }];
  });
}

/**
 * False for the compiler, an optional peer that image/trim-packages takes out, and for what only packages of other
 * platforms need.
 */
function isInImage(name: string, { os, cpu, libc }: LockedPackage): boolean {
  if (name === 'typescript' || /^@(typescript|types)\//.test(name)) return false;
  if (name === '@img/sharp-wasm32' || name === '@emnapi/runtime') return false;
  if (os !== undefined && !os.includes('linux')) return false;
  if (cpu !== undefined && !cpu.some((processor) => processor === 'x64' || processor === 'arm64'))
    return false;
  return libc === undefined || libc.includes('glibc');
}

/** Returns docs/licences.md. Throws for a licence that has no entry here. */
export function licencesPage(packages: readonly ImagePackage[]): string {
  const licences = [...new Set(packages.map(({ licence }) => licence))].sort();
  const parts = licences.map((licence) => {
    const duty = DUTIES[licence];
    if (duty === undefined)
      throw new Error(`${licence} is not among the licences of bin/generators/licences.ts`);
    const rows = packages
      .filter((library) => library.licence === licence)
      .map((library) => `- ${library.name} ${library.version}`);
    return `## ${licence}\n\n${duty}\n\n${[...new Set(rows)].sort().join('\n')}\n`;
  });
  return `# Licences

These are the npm packages in the image, for amd64 and arm64, by the licence that each names. The image keeps the text where a package
brings one. The lock file names no licence for the servers of arm64 (\`@uwsjs\`): they are taken to have the one for x64. Node and the
libraries of Debian are in the image as well, and are not listed here. \`npm run licences\` writes this page. It is no legal advice.

${parts.join('\n')}`;
}
