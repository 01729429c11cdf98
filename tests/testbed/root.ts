import { basename, dirname, join, resolve } from 'node:path';

/** Folder with all code in the form of this file: the sources, or `.compiled/`, from which the gate runs the tests. */
const programs = resolve(import.meta.dirname, '../..');
const isCompiled = basename(programs) === '.compiled';

/** The repository's root. */
export const root = isCompiled ? dirname(programs) : programs;

/** Flags with which Node runs programs in the form in which the tests run. */
export const nodeFlags = isCompiled ? [] : ['--import', import.meta.resolve('tsx')];

/** Returns the file of a module of the repository, in the form in which the tests run. */
export function moduleFile(path: string): string {
  return join(programs, isCompiled ? path.replace(/\.ts$/, '.js') : path);
}
