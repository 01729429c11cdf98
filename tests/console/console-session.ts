import type { Page } from 'playwright-core';
import { startBrowser, type TestBrowser } from './browser.ts';

/** A console with a signed-in operator, in a separate browser. */
export interface ConsoleSession {
  readonly page: Page;
  /** Errors and warnings of the page so far. */
  readonly complaints: readonly string[];
  /** Goes to a place of the console, as in `/shops`. */
  visit(place: string): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the console and signs in. */
export async function openConsole(
  service: { readonly adminUrl: string; readonly adminToken: string },
  options: Parameters<typeof startBrowser>[0] = {},
): Promise<ConsoleSession> {
  const browser: TestBrowser = await startBrowser(options);
  const { page, complaints } = await browser.open(service.adminUrl);
  await page.getByLabel('Operator token').fill(service.adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return {
    page,
    complaints,
    async visit(place) {
      await page.goto(`${service.adminUrl}/#${place}`);
      await page.locator('main [aria-busy]').first().waitFor({ state: 'detached' });
    },
    stop: () => browser.stop(),
  };
}
