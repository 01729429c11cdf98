import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { apiDocument } from './client-types.ts';

/**
 * Writes docs/released/openapi-VERSION.json, the API's document of the version in package.json, as the last step of a
 * release. Refuses a version that has one: callers rely on it.
 */
const root = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string };
const path = `docs/released/openapi-${version}.json`;
writeFileSync(resolve(root, path), `${JSON.stringify(apiDocument(), null, 2)}\n`, { flag: 'wx' });
