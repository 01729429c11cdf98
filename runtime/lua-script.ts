import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** One operation in Lua, with the digest by which Redis knows it after its first call. */
export interface LuaScript {
  readonly source: string;
  readonly sha1: string;
}

/** Reads a script from its file. */
export function readLuaScript(url: URL): LuaScript {
  const source = readFileSync(url, 'utf8');
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}
