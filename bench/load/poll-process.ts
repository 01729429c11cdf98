import { readFileSync } from 'node:fs';
import { HttpConnection } from './http-connection.ts';
import type { PollPlan, PollResult } from './poll-plan.ts';
import { requestBytes } from './request-bytes.ts';

// A poller in a process of its own: a plan as JSON on standard input, its result on standard output.
const plan = JSON.parse(readFileSync(0, 'utf8')) as PollPlan;
process.stdout.write(JSON.stringify(await poll(plan)));

/** Asks every question at once, each on a connection of its own, as often as the plan says. */
async function poll({ port, token, paths, everyMs, times }: PollPlan): Promise<PollResult> {
  const lost = (error: Error): never => {
    throw error;
  };
  const questions = await Promise.all(
    paths.map(async (path) => {
      const connection = await HttpConnection.open(port, lost);
      const request = requestBytes({ method: 'GET', path, token });
      return { connection, ask: () => ask(connection, path, request) };
    }),
  );
  const tookMs: number[][] = paths.map(() => []);
  const begunMs = performance.now();
  for (let time = 0; time < times; time += 1) {
    const dueMs = begunMs + time * everyMs;
    await new Promise((wake) => setTimeout(wake, dueMs - performance.now()));
    const answers = await Promise.all(questions.map((question) => question.ask()));
    for (const [index, ms] of answers.entries()) tookMs[index]?.push(ms);
  }
  for (const { connection } of questions) connection.close();
  return { tookMs };
}

/** How long the answer took. Rejects when it is a refusal. */
function ask(connection: HttpConnection, path: string, request: string): Promise<number> {
  const begunMs = performance.now();
  return new Promise((resolve, reject) => {
    connection.send(request, (status) => {
      if (status === 200) resolve(performance.now() - begunMs);
      else reject(new Error(`${path} was answered ${status}`));
    });
  });
}
