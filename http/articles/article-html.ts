import { Marked } from 'marked';
import type { Article, Articles } from './article-library.ts';

/** The caption over an example, by the language of its fence. */
const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
};

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // A block wider than the window scrolls by itself; `tabindex` lets arrow keys scroll it, too.
    code({ text, lang = '' }) {
      const name = LANGUAGE_NAMES[lang];
      const caption = name === undefined ? '' : `<figcaption>${name}</figcaption>`;
      return `<figure>${caption}<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`;
    },
    table({ header, rows }) {
      const row = (cells: typeof header, tag: 'th' | 'td'): string =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = rows.map((cells) => row(cells, 'td')).join('\n');
      return `<div class="table" tabindex="0"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
    },
  },
});

/** Returns the page of an article. Its paths are relative, because a proxy may serve it below a path of its own. */
export function articleHtml(article: Article, articles: Articles): string {
  return documentHtml(article.title, articles, {
    current: article.slug,
    main: markdown.parse(article.markdown, { async: false }),
  });
}

/** Returns the page that lists the articles. */
export function indexHtml(articles: Articles): string {
  const items = [...articles.values()].map(
    ({ slug, title, summary }) =>
      `<li><a href="docs/${slug}">${escapeHtml(title)}</a><br>${markdown.parseInline(summary, { async: false })}</li>`,
  );
  return documentHtml('Documentation', articles, {
    current: undefined,
    main: `<h1>Documentation</h1>\n<ul class="articles">${items.join('\n')}</ul>`,
  });
}

function documentHtml(
  title: string,
  articles: Articles,
  { current, main }: { readonly current: string | undefined; readonly main: string },
): string {
  // The list is at `/docs`, and each article one level below it.
  const [root, docs] = current === undefined ? ['', 'docs/'] : ['../', ''];
  const links = [...articles.values()].map(({ slug, title: name }) => {
    const currentMark = slug === current ? ' aria-current="page"' : '';
    return `<li><a href="${docs}${slug}"${currentMark}>${escapeHtml(name)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tenant Messaging API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${docs}style.css">
<script type="module" src="${docs}script.js"></script>
</head>
<body>
<header><a href="${root}docs">Documentation</a> <a href="${root}reference">Reference</a> <a href="${root}openapi.json">openapi.json</a></header>
<nav aria-label="Articles"><ul>${links.join('')}</ul></nav>
<main>
${main}</main>
</body>
</html>
`;
}

/** Returns the anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
