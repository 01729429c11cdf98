/** Writes generated files after their source changed: node write-generated.ts client-types|settings|licences */

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { apiDocument, clientTypes } from './generators/client-types.ts';
import { imagePackages, licencesPage } from './generators/licences.ts';
import { environmentExample, settingsPage } from './generators/settings-documents.ts';

const root = resolve(import.meta.dirname, '..');
const writeText = (path: string, text: string): void => writeFileSync(resolve(root, path), text);

switch (process.argv[2]) {
  case 'client-types':
    writeText('client/src/operations.ts', clientTypes(apiDocument()));
    break;
  case 'settings':
    writeText('docs/settings.md', settingsPage());
    writeText('.env.example', environmentExample());
    break;
  case 'licences': {
    const { packages } = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8'));
    writeText('docs/licences.md', licencesPage(imagePackages(packages)));
    break;
  }
  default:
    throw new Error(`${process.argv[2]} is none of client-types, settings and licences`);
}
