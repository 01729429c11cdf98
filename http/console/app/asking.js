// @ts-check
/** Hooks that call the service: at an interval, page by page, or after a click. */
import { useCallback, useEffect, useRef, useState } from '/console/preact.js';
import { call } from './session.js';

/**
 * @template Data
 * @typedef {{ data: Data | undefined, failure: Error | undefined, refresh: () => void }} Answer
 */
/**
 * @template Item
 * @typedef {{ items: readonly Item[], nextCursor: string | null, silentNodes?: readonly string[] }} Page
 */

/**
 * Returns the service's answer to a path, refreshed at an interval while the page is visible.
 * @template Data
 * @param {string | undefined} path undefined: the service is not called
 * @param {{ everyMs?: number }} [options] without `everyMs`, it is called once
 * @returns {Answer<Data>} `data` is undefined until the first answer
 */
export function useAnswer(path, { everyMs } = {}) {
  const [answer, setAnswer] = useState(/** @type {{ path?: string, data?: Data, failure?: Error }} */ ({}));
  const [round, setRound] = useState(0);
  const refresh = useCallback(() => setRound((count) => count + 1), []);
  useEffect(() => {
    if (path === undefined) return undefined;
    const asking = new AbortController();
    let timer = 0;
    const later = () => {
      if (everyMs !== undefined && !asking.signal.aborted) timer = window.setTimeout(ask, everyMs);
    };
    const ask = () => {
      if (document.hidden) {
        document.addEventListener('visibilitychange', refresh, { once: true, signal: asking.signal });
        return;
      }
      call(path, { signal: asking.signal })
        .then((data) => setAnswer({ path, data }))
        .catch((error) => {
          if (!asking.signal.aborted)
            setAnswer((known) => ({ ...(known.path === path && known), path, failure: error }));
        })
        .finally(later);
    };
    ask();
    return () => {
      asking.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, round]);
  const current = answer.path === path ? answer : {};
  return { data: current.data, failure: current.failure, refresh };
}

/**
 * Returns `run`, which runs an action after a click, and its state: if it runs, and why the last one failed.
 * @returns {{ isBusy: boolean, failure: Error | undefined, run: (work: () => Promise<unknown>) => Promise<boolean> }}
 */
export function useAction() {
  const [state, setState] = useState(/** @type {{ isBusy: boolean, failure?: Error }} */ ({ isBusy: false }));
  const run = useCallback(async (/** @type {() => Promise<unknown>} */ work) => {
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      return true;
    } catch (error) {
      setState({ isBusy: false, failure: /** @type {Error} */ (error) });
      return false;
    }
  }, []);
  return { failure: undefined, ...state, run };
}

/**
 * Returns the pages of a list in order. The first is refreshed, and the rest are loaded on demand.
 * @param {string} path with its query, without cursor
 * @template Item
 * @param {{ everyMs?: number, keyOf: (item: Item) => string }} options `keyOf` returns an item's key
 */
export function usePages(path, { keyOf, ...options }) {
  /** @type {Answer<Page<Item>>} */
  const first = useAnswer(path, options);
  const [more, setMore] = useState(
    /** @type {{ path: string, items: readonly Item[], cursor: string | null } | undefined} */ (undefined),
  );
  const action = useAction();
  /** The list for which the next page was requested last. */
  const asked = useRef('');
  const following = more?.path === path ? more : undefined;
  const cursor = following === undefined ? (first.data?.nextCursor ?? null) : following.cursor;
  const join = path.includes('?') ? '&' : '?';
  const newest = first.data?.items;
  useEffect(() => {
    if (newest === undefined) return;
    setMore((known) =>
      known?.path === path ? { ...known, items: refreshed(newest, known.items, keyOf) } : known,
    );
  }, [newest]);
  return {
    items: following?.items ?? newest,
    failure: first.failure ?? (asked.current === path ? action.failure : undefined),
    isBusy: action.isBusy,
    refresh: first.refresh,
    /** Nodes that did not answer: their items are missing. */
    silentNodes: first.data?.silentNodes ?? [],
    /** Undefined at the end of the list. */
    next:
      cursor === null
        ? undefined
        : () =>
            action.run(async () => {
              asked.current = path;
              /** @type {Page<Item>} */
              const page = await call(`${path}${join}cursor=${encodeURIComponent(cursor)}`);
              const shown = following?.items ?? newest;
              setMore({ path, items: [...(shown ?? []), ...page.items], cursor: page.nextCursor });
            }),
  };
}

/**
 * Merges the refreshed first page into the shown items. No item between them may be hidden, so a first page that shares
 * nothing with the shown items changes nothing, unless it is empty.
 * @template Item
 * @param {readonly Item[]} newest
 * @param {readonly Item[]} shown
 * @param {(item: Item) => string} keyOf
 */
function refreshed(newest, shown, keyOf) {
  const places = new Map(shown.map((item, index) => [keyOf(item), index]));
  const meeting = newest.findLast((item) => places.has(keyOf(item)));
  if (meeting === undefined) return newest.length === 0 ? newest : shown;
  const keys = new Set(newest.map(keyOf));
  const rest = shown.slice((places.get(keyOf(meeting)) ?? 0) + 1);
  return [...newest, ...rest.filter((item) => !keys.has(keyOf(item)))];
}
