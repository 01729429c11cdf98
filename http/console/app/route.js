// @ts-check
/** The address of a page of the console: the part after `#`, as path and query. */
import { useEffect, useState } from '/console/preact.js';

/** @returns {{ path: string[], query: URLSearchParams, hash: string }} */
export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const listener = () => setHash(location.hash);
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  const [path = '', query = ''] = hash.slice(1).split('?');
  return {
    path: path.split('/').filter((part) => part !== ''),
    query: new URLSearchParams(query),
    hash,
  };
}

/**
 * Names the page in the browser's title.
 * @param {string} name
 */
export function useTitle(name) {
  useEffect(() => {
    document.title = `${name} · Console`;
  }, [name]);
}

/**
 * An address in the console. Empty values are left out of the query.
 * @param {string} path
 * @param {Record<string, string | undefined>} [query]
 */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(/** @type {string[][]} */ (given)).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** @param {{ tenantId: string, shopId: string }} shop */
export function shopAddress({ tenantId, shopId }) {
  return address(`/shops/${tenantId}/${shopId}`);
}
