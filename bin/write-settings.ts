import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { environmentExample, settingsPage } from './settings-documents.ts';

/** Writes docs/settings.md and .env.example, after bin/settings-table.ts changed. */
const root = resolve(import.meta.dirname, '..');
writeFileSync(resolve(root, 'docs/settings.md'), settingsPage());
writeFileSync(resolve(root, '.env.example'), environmentExample());
