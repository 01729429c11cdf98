import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PERMISSIONS } from '../../actors/permission.ts';
import { EVENT_TYPES } from '../../actors/tenants/tenant-event.ts';
import { headerLines, type ReplyValue } from '../contract/exchange.ts';
import { type Page, shownPageHeaders } from '../pipeline/pages.ts';
import { ERROR_MESSAGES } from './error-messages.ts';

const APP_FOLDER = fileURLToPath(new URL('./app/', import.meta.url));

const CONTENT_TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows only our own files. QR codes are data images. */
const HEADERS =
  shownPageHeaders(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ) + headerLines({ 'Cache-Control': 'no-cache' });

/** Modules generated from the service's own lists, so that the console has the same. */
const MADE_MODULES: { readonly [path: string]: string } = {
  '/console/permissions.js': `export const PERMISSIONS = ${JSON.stringify(PERMISSIONS)};\n`,
  '/console/event-types.js': `export const EVENT_TYPES = ${JSON.stringify(EVENT_TYPES)};\n`,
  '/console/error-messages.js': `export const ERROR_MESSAGES = ${JSON.stringify(ERROR_MESSAGES)};\n`,
};

/** The operators' console: its page at `/`, its files under `/console/`, preact as its package ships it. Read once. */
export function consolePages(): readonly Page[] {
  // The package exports no path to its module for browsers. The module is in another folder of the package than its
  // entry.
  const entryFolder = dirname(createRequire(import.meta.url).resolve('htm'));
  const preact = join(entryFolder, '../preact/standalone.module.js');
  const files = readdirSync(APP_FOLDER).filter((name) => extname(name) in CONTENT_TYPES);
  return [
    page('/', '.html', readFileSync(join(APP_FOLDER, 'index.html'))),
    page('/console/preact.js', '.js', readFileSync(preact)),
    ...Object.entries(MADE_MODULES).map(([path, text]) => page(path, '.js', Buffer.from(text))),
    ...files.map((name) => page(`/console/${name}`, extname(name), readFileSync(join(APP_FOLDER, name)))),
  ];
}

function page(path: string, extension: string, body: Uint8Array): Page {
  const reply: ReplyValue = {
    status: 200,
    contentType: CONTENT_TYPES[extension] ?? '',
    headers: HEADERS,
    body,
  };
  return { path, answer: () => reply };
}
