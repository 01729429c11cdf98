import { readFileSync } from 'node:fs';
import { headerLines, type ReplyValue } from '../contract/exchange.ts';
import { fixedPage, type Page, pageOnRequest, shownPageHeaders } from '../pipeline/pages.ts';
import { articleHtml, indexHtml } from './article-html.ts';
import type { ArticleLibrary, Articles } from './article-library.ts';

const HEADERS = shownPageHeaders("style-src 'self'; img-src data:");

/**
 * People who open the bare address get the articles. The path is relative like all links here, because a proxy may add
 * a prefix.
 */
const TO_ARTICLES: ReplyValue = {
  status: 302,
  contentType: 'text/plain; charset=utf-8',
  headers: headerLines({ Location: 'docs' }),
  body: '',
};

const STYLE_URL = new URL('./article.css', import.meta.url);
const SCRIPT_URL = new URL('./article.js', import.meta.url);

/**
 * Returns the pages of the articles, for people without a key. `/docs` is the list, and `/` redirects to it. Each
 * article has a page, and its Markdown under the same path with `.md`. `/llms.txt` lists them for programs. A page is
 * made on its first request, because the public address may be unknown before.
 */
export function articlePages(library: ArticleLibrary): readonly Page[] {
  const html = (path: string, body: () => string): Page => page(path, 'text/html; charset=utf-8', body);
  return [
    { path: '/', answer: () => TO_ARTICLES },
    html('/docs', () => indexHtml(library.all())),
    fixedPage('/docs/style.css', 'text/css; charset=utf-8', readFileSync(STYLE_URL)),
    fixedPage('/docs/script.js', 'text/javascript; charset=utf-8', readFileSync(SCRIPT_URL)),
    page('/llms.txt', 'text/plain; charset=utf-8', () => llmsText(library.all(), library.publicUrl())),
    ...library.slugs.flatMap((slug) => {
      const article = () => {
        const article = library.all().get(slug);
        if (article === undefined) throw new Error(`there is no article ${slug}`);
        return article;
      };
      return [
        html(`/docs/${slug}`, () => articleHtml(article(), library.all())),
        page(`/docs/${slug}.md`, 'text/markdown; charset=utf-8', () => article().markdown),
      ];
    }),
  ];
}

function page(path: string, contentType: string, body: () => string): Page {
  return pageOnRequest(path, () => ({ contentType, headers: HEADERS, body: body() }));
}

/**
 * Returns `/llms.txt` (https://llmstxt.org). It has links to the articles and to the API's document, for language
 * models. `publicUrl` is the service's address.
 */
function llmsText(articles: Articles, publicUrl: string): string {
  const items = [...articles.values()].map(
    ({ slug, title, summary }) => `- [${title}](${publicUrl}/docs/${slug}.md): ${summary}`,
  );
  return `# Tenant Messaging API

> A small business sends messages to its customers over a chat network through this HTTP/JSON API, one connected number a
> shop, behind a send policy that keeps the number from being banned. Every call needs an API key; these pages need none.

## Articles

${items.join('\n')}

## Reference

- [OpenAPI 3.1](${publicUrl}/openapi.json): every request and reply, field by field
`;
}
