/**
 * Returns the `execArgv` of a worker thread that runs the program at `entry`. Compiled programs need nothing. Sources
 * need tsx, whose own `--import tsx` registers in the main thread only.
 */
export function threadExecArgv(entry: URL): string[] | undefined {
  if (!entry.pathname.endsWith('.ts')) return undefined;
  const register = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
}

/**
 * Returns the address of the program at `path`, relative to the module at `url` and in the form that module itself has:
 * source or compiled.
 */
export function threadEntry(url: string, path: string): URL {
  return new URL(`${path}${url.endsWith('.ts') ? '.ts' : '.js'}`, url);
}
