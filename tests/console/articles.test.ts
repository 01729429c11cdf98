/**
 * The articles' pages in a browser: readable for everyone, on a desktop and on a phone, and linked with the reference
 * both ways.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { accessibilityViolations, startBrowser, type TestBrowser } from './browser.ts';

let origin: string;
const stack = sharedStack({}, () => {
  ({ origin } = new URL(stack.apiUrl()));
});

/** The articles, from the first, that axe looks at in each form. */
const LOOKED_AT = 3;

const callsUsed = async (): Promise<number> => {
  const { data } = await stack.api.get('/me');
  return (data.quota as { apiCalls: { used: number } }).apiCalls.used;
};

for (const [size, colorScheme] of [
  ['desktop', 'light'],
  ['phone', 'dark'],
] as const) {
  test(`every article is readable without a key (${size}, ${colorScheme}), and costs no call`, async (context) => {
    const browser: TestBrowser = await startBrowser({ size, colorScheme });
    context.after(() => browser.stop());
    const before = await callsUsed();
    const { page, complaints } = await browser.open(`${origin}/docs`);
    assert.deepEqual(await accessibilityViolations(page), []);
    const names = await page.locator('nav a').allTextContents();
    assert.ok(names.length >= 8);
    let looked = 0;
    for (const name of names) {
      await page.locator('nav').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      // The heading may be there before the page's styles are.
      await page.waitForLoadState('load');
      // All are of the same few elements, and each look takes seconds.
      if (looked < LOOKED_AT) assert.deepEqual(await accessibilityViolations(page), [], name);
      looked += 1;
      const overhang = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.equal(overhang, 0, `${name} is wider than the window`);
    }
    assert.deepEqual(complaints, []);
    await page.getByRole('link', { name: 'Reference', exact: true }).click();
    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
    assert.equal((await callsUsed()) - before, 1);
  });
}

test('an example is copied by its button, and the search finds the part that has all the words', async (context) => {
  const browser: TestBrowser = await startBrowser();
  context.after(() => browser.stop());
  const { page, complaints } = await browser.open(`${origin}/docs/errors-and-retries`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const example = page.locator('figure').first();
  await example.getByRole('button', { name: 'Copy' }).click();
  await example.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  assert.equal(copied, await example.locator('code').textContent());
  await page.getByRole('searchbox', { name: 'Search the articles' }).fill('Envelope fields');
  const foundLocator = page.getByRole('list', { name: 'Found' });
  await foundLocator.getByRole('link', { name: 'Errors and retries: The envelope', exact: true }).click();
  assert.equal(new URL(page.url()).hash, '#the-envelope');
  await page.getByRole('searchbox').fill('nowhere-to-be-found');
  await page.getByText('Nothing has all these words.').waitFor();
  assert.deepEqual(await accessibilityViolations(page), []);
  assert.deepEqual(complaints, []);
});
