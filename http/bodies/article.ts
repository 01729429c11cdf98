import * as v from 'valibot';

/** An article as replies show it. */
export const article = v.strictObject({
  slug: v.string(),
  title: v.string(),
  summary: v.string(),
  markdown: v.string(),
});
