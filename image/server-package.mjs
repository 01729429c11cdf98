// Exits with 1 and prints one sentence with the remedy if the HTTP server's package does not load. It is run by
// bin/prepare, and while the image is built. For another platform than this one it only checks that the package exists.
// usage: node image/server-package.mjs [PLATFORM], for example linux-arm64
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The glibc that each release of the package is linked with, by the version of Node. */
const LINKED_WITH = { 20: '2.36', 22: '2.36', 24: '2.38', 26: '2.38' };

/** Returns the sentence; `glibc` is undefined where the C library is another one. */
export function whyItDoesNotLoad({ platform, arch, node, glibc }) {
  const major = node.split('.')[0];
  const wanted = LINKED_WITH[major];
  if (wanted === undefined) return `The HTTP server has no binary for Node ${node}; use Node 24, 22 or 26.`;
  if (platform !== 'linux') return `The HTTP server runs on Linux; start it in a container on ${platform}.`;
  if (glibc === undefined)
    return 'The HTTP server needs glibc, and musl will not do; use Debian, Ubuntu or another system with glibc.';
  if (Number(glibc.split('.')[1]) < Number(wanted.split('.')[1]))
    return `Node ${major} needs glibc ${wanted} for the HTTP server, as Debian 13 and Ubuntu 24.04 have; here is ${glibc}, so use Node 22.`;
  return `The npm registry did not give @uwsjs/${platform}-${arch}-${major}, the HTTP server's binary; install it from another registry by this name, in the version of package.json.`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { versions } = process;
  const here = `${process.platform}-${process.arch}`;
  const { 2: wanted = here } = process.argv;
  const [platform, arch] = wanted.split('-');
  const require = createRequire(`${process.cwd()}/package.json`);
  try {
    const name = `@uwsjs/${wanted}-${versions.node.split('.')[0]}`;
    wanted === here ? require(name) : require.resolve(name);
  } catch {
    const { glibcVersionRuntime: glibc } = process.report.getReport().header;
    process.stderr.write(`${whyItDoesNotLoad({ platform, arch, node: versions.node, glibc })}\n`);
    process.exitCode = 1;
  }
}
