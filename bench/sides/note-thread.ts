/**
 * Loaded by each thread of a service before its own program, as `--import=file:…/note-thread.js?path=…`. Session
 * workers write their system thread ids into the file `path`, so their CPU time can be separated from the others'.
 */

import { appendFileSync, readlinkSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const path = new URL(import.meta.url).searchParams.get('path');
const isSessionWorker = typeof (workerData as { socketUrl?: unknown } | null)?.socketUrl === 'string';
if (path !== null && isSessionWorker)
  appendFileSync(path, `${readlinkSync('/proc/thread-self').split('/').at(-1)}\n`);
