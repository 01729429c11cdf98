import type { Articles } from '../tenant-api/articles.ts';

/** `/llms.txt` (https://llmstxt.org): links to the articles and the API's document, for language models. `publicUrl`: the service's address. */
export function llmsText(articles: Articles, publicUrl: string): string {
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
