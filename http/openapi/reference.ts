import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { headerLines } from '../contract/exchange.ts';
import { fixedPage, type Page, pageOnRequest, shownPageHeaders } from '../pipeline/pages.ts';

/** swagger-ui sets style attributes and draws with data images. */
const HEADERS = shownPageHeaders("style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'");

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="reference/swagger-ui.css">
<link rel="stylesheet" href="reference/header.css">
</head>
<body>
<header><a href="docs">Documentation</a> <a href="reference">Reference</a> <a href="openapi.json">openapi.json</a></header>
<div id="reference"></div>
<script src="reference/swagger-ui-bundle.js"></script>
<script type="module" src="reference/start.js"></script>
</body>
</html>
`;

/**
 * The document contains the public address, but the page may be open under another one (`localhost`, a tunnel). The
 * page's policy lets it call only the address it came from.
 */
const START = `const url = new URL('openapi.json', location);
const spec = await (await fetch(url)).json();
const { pathname } = new URL(spec.servers[0].url);
SwaggerUIBundle({
  spec: {
    ...spec,
    servers: [{ url: location.origin + pathname }],
  },
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
});
`;

/** The header of the articles, above what swagger-ui draws. */
const HEADER_STYLE = `body { margin: 0; background: #ffffff; }
header { box-sizing: border-box; display: flex; gap: 1.5rem; max-width: 70rem; margin: 0 auto; padding: 1rem 0; border-bottom: 1px solid #d5d9df; font: 1rem / 1.55 system-ui, sans-serif; }
header a { color: #0b57a4; }
.swagger-ui .wrapper { max-width: 70rem; padding: 0; }
@media (max-width: 72rem) { header, .swagger-ui .wrapper { margin: 0 1rem; width: auto; } }
`;

/** Returns the pages of the readable reference. The files of swagger-ui's npm package are read on the first request. */
export function referencePages(): readonly Page[] {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return [
    fixedPage('/reference', 'text/html; charset=utf-8', HTML, HEADERS),
    fixedPage('/reference/header.css', 'text/css; charset=utf-8', HEADER_STYLE),
    fixedPage('/reference/start.js', 'text/javascript; charset=utf-8', START),
    packageFile(folder, 'swagger-ui.css', 'text/css; charset=utf-8'),
    packageFile(folder, 'swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  ];
}

function packageFile(folder: string, name: string, contentType: string): Page {
  return pageOnRequest(`/reference/${name}`, () => ({
    contentType,
    headers: headerLines({ 'X-Content-Type-Options': 'nosniff' }),
    body: readFileSync(join(folder, name)),
  }));
}
