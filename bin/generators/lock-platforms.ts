/** A package in a lock file. */
interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** A lock file, by the paths of its packages. */
interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** The words in the names of packages that hold binaries, and what npm calls them. */
const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];
const LIBRARIES: Readonly<Record<string, string>> = { gnu: 'glibc', musl: 'musl' };

/**
 * Returns the lock file with an entry for each binary of another platform that the registry used here lacks. `npm ci`
 * refuses a lock file without them. An entry has no hash, so npm takes that package by name and version.
 */
export function withAllPlatforms(lock: LockFile): LockFile {
  const missingNames = missingPlatforms(lock).map(([name, version]) => [
    `node_modules/${name}`,
    { version, optional: true, ...platformOf(name) },
  ]);
  return { ...lock, packages: { ...lock.packages, ...Object.fromEntries(missingNames) } };
}

/** Returns the name and version of each optional package that no entry of the lock file holds. */
function missingPlatforms({ packages }: LockFile): readonly (readonly [string, string])[] {
  const namedPackages = Object.values(packages).flatMap((lockedPackage) =>
    Object.entries(lockedPackage.optionalDependencies ?? {}),
  );
  const heldFolders = Object.keys(packages);
  return namedPackages.filter(
    ([name]) => !heldFolders.some((place) => place.endsWith(`node_modules/${name}`)),
  );
}

/** Returns the platform in the name of a package, such as `@oxc-parser/binding-linux-arm64-musl`. */
function platformOf(name: string): LockedPackage {
  const words = name.replace(/^.*\//, '').split('-');
  const [os] = words.filter((word) => SYSTEMS.includes(word));
  const [cpu] = words.filter((word) => PROCESSORS.includes(word));
  if (os === undefined || cpu === undefined) throw new Error(`${name} names no platform that is known here`);
  const libc = words.flatMap((word) => LIBRARIES[word] ?? []);
  return { os: [os], cpu: [cpu], ...(libc.length === 0 ? {} : { libc }) };
}
