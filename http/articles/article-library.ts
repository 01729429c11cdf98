import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ARTICLE_FIGURES } from './article-figures.ts';

export interface Article {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}

/** All articles by slug, in their reading order. */
export type Articles = ReadonlyMap<string, Article>;

export interface ArticleLibrary {
  /** The slugs of all articles. They are known before the address is. */
  readonly slugs: readonly string[];
  /** Returns all articles, with the settings in force. */
  all(): Articles;
  /** The public address without the API's base path. */
  publicUrl(): string;
}

/** Settings that the articles show to callers. */
export interface ArticleSettings {
  /** The random pause between two sends of a shop. */
  readonly sendGap: { readonly minMs: number; readonly maxMs: number };
  readonly messageRetentionDays: number;
  readonly eventRetentionDays: number;
  /** Events of an account that are kept at most. */
  readonly eventMaxEntries: number;
  readonly platformName: string;
}

/** Values of the running service, by the name in `{{name}}`. */
type ArticleValues = Readonly<Record<string, string>>;

/**
 * Reads the Markdown files of a folder. In a name like `http/articles/texts/10-getting-started.md` the number gives the
 * order, and the rest is the slug. The first line is the title (`# …`), the first paragraph the summary. Throws if a
 * `{{name}}` has no value. `address` is called with the first article, because the port may be unknown before.
 */
export function articleLibrary(
  folder: string,
  settings: ArticleSettings,
  address: { apiUrl(): string; publicUrl(): string },
): ArticleLibrary {
  const files = readdirSync(folder)
    .filter((file) => /^\d+-[a-z-]+\.md$/.test(file))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
  const readArticles = (urls: { readonly apiUrl: string; readonly publicUrl: string }): Articles => {
    const values = { ...ARTICLE_FIGURES, ...valuesOf(settings), ...urls };
    return new Map(
      files.map(({ file, text }) => [slugOf(file), articleOf(file, filledIn(text, values, file))]),
    );
  };
  // An article that names an unknown value stops the start.
  readArticles({ apiUrl: 'http://localhost', publicUrl: 'http://localhost' });
  let articles: Articles | undefined;
  return {
    slugs: files.map(({ file }) => slugOf(file)),
    all() {
      articles ??= readArticles({ apiUrl: address.apiUrl(), publicUrl: address.publicUrl() });
      return articles;
    },
    publicUrl: address.publicUrl,
  };
}

function articleOf(file: string, markdown: string): Article {
  const [heading = '', summary = ''] = markdown.split('\n\n');
  return {
    slug: slugOf(file),
    title: heading.replace(/^# /, ''),
    summary: summary.trim().replaceAll('\n', ' '),
    markdown,
  };
}

function slugOf(file: string): string {
  return basename(file, '.md').replace(/^\d+-/, '');
}

/** Formats the settings for the articles. */
function valuesOf(settings: ArticleSettings): ArticleValues {
  const { minMs, maxMs } = settings.sendGap;
  const [leastSeconds, mostSeconds] = [seconds(minMs), seconds(maxMs)];
  return {
    gapSeconds: leastSeconds === mostSeconds ? leastSeconds : `${leastSeconds} to ${mostSeconds}`,
    retentionDays: String(settings.messageRetentionDays),
    eventDays: String(settings.eventRetentionDays),
    eventEntries: settings.eventMaxEntries.toLocaleString('en-US'),
    platformName: settings.platformName,
  };
}

function seconds(ms: number): string {
  return String(Math.round(ms / 10) / 100);
}

function filledIn(text: string, values: ArticleValues, file: string): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) return value;
    throw new Error(`${file} asks for {{${name}}}; there are ${Object.keys(values).join(', ')}`);
  });
}
