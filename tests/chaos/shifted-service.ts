/** The service on a machine whose clock is 5 hours ahead from one SIGUSR2 to the next, as bin/service.ts sees it. */
const SHIFT_MS = 5 * 3_600_000;
const nowMs = Date.now.bind(Date);
let shiftMs = 0;
Date.now = () => nowMs() + shiftMs;
process.on('SIGUSR2', () => {
  shiftMs = SHIFT_MS - shiftMs;
});
await import('../../bin/service.ts');
