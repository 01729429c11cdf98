import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PERMISSIONS } from '../../actors/permission.ts';
import { EVENT_TYPES } from '../../actors/tenants/stored-events/tenant-event.ts';
import { headerLines } from '../contract/exchange.ts';
import { fixedPage, type Page, shownPageHeaders } from '../pipeline/pages.ts';
import { ERROR_MESSAGES } from './error-messages.ts';

const APP_FOLDER = fileURLToPath(new URL('./app/', import.meta.url));

const CONTENT_TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** QR codes are data images. */
const HEADERS =
  shownPageHeaders("style-src 'self'; img-src 'self' data:") + headerLines({ 'Cache-Control': 'no-cache' });

/** Modules generated from the service's own lists, so that the console has the same. */
const MADE_MODULES: { readonly [path: string]: string } = {
  '/console/permissions.js': `export const PERMISSIONS = ${JSON.stringify(PERMISSIONS)};\n`,
  '/console/event-types.js': `export const EVENT_TYPES = ${JSON.stringify(EVENT_TYPES)};\n`,
  '/console/error-messages.js': `export const ERROR_MESSAGES = ${JSON.stringify(ERROR_MESSAGES)};\n`,
};

/**
 * Reads the pages of the operators' console: `/`, its files under `/console/`, and `htm`'s module for browsers, which
 * contains preact.
 */
export function consolePages(): readonly Page[] {
  // The package exports no path to its module for browsers. The module is in another folder of the package than its
  // entry.
  const entryFolder = dirname(createRequire(import.meta.url).resolve('htm'));
  const preact = join(entryFolder, '../preact/standalone.module.js');
  const names = readdirSync(APP_FOLDER, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => extname(name) in CONTENT_TYPES);
  return [
    page('/', '.html', readFileSync(join(APP_FOLDER, 'index.html'))),
    page('/console/preact.js', '.js', readFileSync(preact)),
    ...Object.entries(MADE_MODULES).map(([path, text]) => page(path, '.js', text)),
    ...files.map((name) => page(`/console/${name}`, extname(name), readFileSync(join(APP_FOLDER, name)))),
  ];
}

function page(path: string, extension: string, body: string | Uint8Array): Page {
  return fixedPage(path, CONTENT_TYPES[extension] ?? '', body, HEADERS);
}
