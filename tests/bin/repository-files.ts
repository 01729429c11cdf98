import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../testbed/root.ts';

const ELSEWHERE = new Set(['node_modules', 'dist', 'coverage', 'results', 'peers']);
/** An ending, or none: a command, the Dockerfile, a Caddyfile. */
const WRITTEN = /\.(?:ts|m?js|lua|md|conf|yaml)$|^(?!LICENSE)[\w-]+$/;

/** Returns the files that people wrote in a folder and below it: code, scripts and documents, by path from the root. */
export function writtenFiles(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || ELSEWHERE.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return writtenFiles(path);
    return WRITTEN.test(entry.name) ? [relative(root, path)] : [];
  });
}
