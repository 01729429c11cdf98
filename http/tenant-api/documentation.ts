import * as v from 'valibot';
import { done, failed } from '../../actors/failure.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { apiEndpoint } from './services.ts';

/** An article as replies show it. */
export const article = v.strictObject({
  slug: v.string(),
  title: v.string(),
  summary: v.string(),
  markdown: v.string(),
});

const example = {
  slug: 'getting-started',
  title: 'Getting started',
  summary: 'From a key to the first message in five calls.',
};

export const listArticles = apiEndpoint({
  name: 'listArticles',
  method: 'GET',
  path: '/docs',
  tag: 'Documentation',
  summary: 'List the documentation articles',
  permission: 'none',
  replies: {
    200: {
      description: 'All articles, in the order in which to read them.',
      data: cursorPage(v.omit(article, ['markdown'])),
      example: { items: [example], nextCursor: null },
    },
  },
  async handle({ services }) {
    const items = [...services.articles.all().values()].map(({ slug, title, summary }) => ({
      slug,
      title,
      summary,
    }));
    return done({ items, nextCursor: null });
  },
});

export const readArticle = apiEndpoint({
  name: 'readArticle',
  method: 'GET',
  path: '/docs/{slug}',
  tag: 'Documentation',
  summary: 'Read a documentation article',
  permission: 'none',
  replies: {
    200: {
      description: 'The article as Markdown.',
      data: article,
      example: { ...example, markdown: '# Getting started\n…' },
    },
  },
  errors: ['DOC_ARTICLE_NOT_FOUND'],
  async handle({ params, services }) {
    const article = services.articles.all().get(params.slug);
    return article === undefined ? failed('DOC_ARTICLE_NOT_FOUND') : done(article);
  },
});
