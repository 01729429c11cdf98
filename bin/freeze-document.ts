/**
 * Writes docs/released/openapi-VERSION.json, the API's document of the version in package.json, as the last step of a
 * release. Refuses a version that has one: callers rely on it. Removes the former document, which the new one includes.
 */

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { apiDocument } from './generators/client-types.ts';

const root = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string };
const folder = resolve(root, 'docs/released');
const formerFiles = readdirSync(folder);
const path = resolve(folder, `openapi-${version}.json`);
writeFileSync(path, `${JSON.stringify(apiDocument(), null, 2)}\n`, { flag: 'wx' });
for (const name of formerFiles) rmSync(resolve(folder, name));
