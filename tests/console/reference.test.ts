/** The reference page in a browser: what a developer reads and tries out there, under any name of this machine. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { startBrowser, type TestBrowser } from './browser.ts';

let browser: TestBrowser;
after(() => browser?.stop());
const stack = sharedStack({}, async () => {
  browser = await startBrowser();
});

for (const name of ['127.0.0.1', 'localhost']) {
  test(`a call can be tried out with a key on the page at ${name}`, async () => {
    const { origin } = new URL(stack.apiUrl().replace('127.0.0.1', name));
    const { page, complaints } = await browser.open('about:blank');
    const asked = new Set<string>();
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    await page.goto(`${origin}/reference`);
    await page.getByRole('link', { name: 'openapi.json' }).waitFor();
    await page.getByRole('button', { name: 'Authorize', exact: true }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByLabel('auth-bearer-value').fill(stack.apiKey);
    await dialog.getByRole('button', { name: 'Apply credentials' }).first().click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    const operation = page.locator('#operations-Identity-readIdentity');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const status = operation.locator('.live-responses-table .response-col_status', { hasText: '200' });
    await status.waitFor();
    assert.deepEqual(
      [...asked].filter((one) => one !== origin && one !== 'null'),
      [],
    );
    assert.deepEqual(complaints, []);
    await page.close();
  });
}
