import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A documentation article. */
export interface Article {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}

/** All of them by slug, in the order in which to read them. */
export type Articles = ReadonlyMap<string, Article>;

/**
 * Reads the Markdown files of a folder once. A file is named `http/docs/10-getting-started.md`: the number orders, the rest is
 * the slug; its first line is the title (`# …`), its first paragraph the summary.
 */
export function readArticles(folder: string): Articles {
  const files = readdirSync(folder).filter((file) => /^\d+-[a-z-]+\.md$/.test(file));
  const articles = files.sort().map((file): Article => {
    const markdown = readFileSync(join(folder, file), 'utf8');
    const [heading = '', summary = ''] = markdown.split('\n\n');
    return {
      slug: basename(file, '.md').replace(/^\d+-/, ''),
      title: heading.replace(/^# /, ''),
      summary: summary.trim().replaceAll('\n', ' '),
      markdown,
    };
  });
  return new Map(articles.map((article) => [article.slug, article]));
}
