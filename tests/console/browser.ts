import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { MINUTE_MS } from '../../runtime/durations.ts';

const AXE_PATH = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Debian's Chromium; bin/prepare-browser installs it. */
const CHROMIUM_PATH = '/usr/bin/chromium';

/** The sizes of a screen on a table and of a phone. */
export const SIZES = {
  desktop: { width: 1280, height: 860 },
  phone: { width: 390, height: 844 },
} as const;

/** A page may take this long on a machine that is busy: the reference took over 30 seconds on one. */
const SLOWEST_MS = 2 * MINUTE_MS;

/** A browser of a test's own, with nothing in it from before. */
export interface TestBrowser {
  /** A page that keeps what it complains of. */
  open(url: string): Promise<WatchedPage>;
  stop(): Promise<void>;
}

/** A page and what went wrong on it: errors on its console, errors thrown, requests that broke the policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
}

/**
 * Starts the browser. Rejects with one sentence when there is none.
 * `ownClock`: its pages go by a clock that runs like the machine's until a test puts it forward, by `page.clock`.
 */
export async function startBrowser(
  options: {
    readonly size?: keyof typeof SIZES;
    readonly colorScheme?: 'light' | 'dark';
    readonly ownClock?: boolean;
    readonly timezoneId?: string;
  } = {},
): Promise<TestBrowser> {
  const { size = 'desktop', colorScheme = 'light', ownClock = false, timezoneId } = options;
  const profile = mkdtempSync(join(tmpdir(), 'browser-'));
  const zone = timezoneId === undefined ? {} : { timezoneId };
  const context = await launch(profile, { viewport: SIZES[size], colorScheme, ...zone });
  context.setDefaultTimeout(SLOWEST_MS);
  if (ownClock) await context.clock.install();
  return {
    async open(url) {
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(url);
      return { page, complaints };
    },
    async stop() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

async function launch(
  profile: string,
  view: {
    readonly viewport: { readonly width: number; readonly height: number };
    readonly colorScheme: 'light' | 'dark';
    readonly timezoneId?: string;
  },
): Promise<BrowserContext> {
  try {
    return await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM_PATH,
      headless: true,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
      reducedMotion: 'reduce',
      ...view,
    });
  } catch (error) {
    rmSync(profile, { recursive: true, force: true });
    throw new Error(`Chromium does not start from ${CHROMIUM_PATH}; bin/prepare-browser installs it.`, {
      cause: error,
    });
  }
}

/** Returns the accessibility problems that axe-core finds on the current page. Empty: there are none. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  const injected = (await page.evaluate('typeof axe')) === 'object';
  // Through the debugger, since the page's own policy rightly lets no foreign script in.
  if (!injected) await page.evaluate(readFileSync(AXE_PATH, 'utf8'));
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
  return found.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => `  ${html}`).join('\n')}`,
  );
}
