import { BodyBudget } from '../../http/pipeline/body-budget.ts';
import { type Server, type ServerOptions, startServer } from '../../http/server.ts';

/** Starts only a listener on loopback that reads every body. `options` has the settings of a test. */
export function bareServer(options: Partial<ServerOptions> & Pick<ServerOptions, 'answer'>): Promise<Server> {
  return startServer({
    host: '127.0.0.1',
    port: 0,
    callerAddress: undefined,
    eventsPath: undefined,
    bodies: new BodyBudget(),
    bodyPolicy: { headDecides: () => false, accountOf: () => 'somebody' },
    ...options,
  });
}
