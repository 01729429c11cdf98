import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { imagePackages, licencesPage } from './licences.ts';

/** Writes docs/licences.md, after the packages changed. */
const root = resolve(import.meta.dirname, '..');
const { packages } = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8'));
writeFileSync(resolve(root, 'docs/licences.md'), licencesPage(imagePackages(packages)));
