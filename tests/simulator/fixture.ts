import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { UserFacingSocketConfig } from '@whiskeysockets/baileys';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../simulator/simulator.ts';
import { type SimulatorControl, simulatorControl } from '../testbed/simulator-control.ts';
import { linkedClient, type TestClient } from './test-client.ts';

/** A simulator of a test's own, with clients that end with it. */
export class Fixture {
  simulator: Simulator;
  control: SimulatorControl;
  readonly dataDir: string;
  readonly #options: Partial<SimulatorOptions>;
  readonly #clients: TestClient[] = [];

  private constructor(simulator: Simulator, dataDir: string, options: Partial<SimulatorOptions>) {
    this.simulator = simulator;
    this.control = simulatorControl(simulator.url);
    this.dataDir = dataDir;
    this.#options = options;
  }

  /** Starts a simulator that ends with the test. */
  static async start(context: TestContext, options: Partial<SimulatorOptions> = {}): Promise<Fixture> {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-'));
    // The client makes its keys in JavaScript here, 812 of them in a quarter of a second.
    const given = { claimedPreKeys: 1, ...options };
    const simulator = await startSimulator({ port: 0, dataDir, ...given });
    const fixture = new Fixture(simulator, dataDir, given);
    context.after(async () => {
      await Promise.all(fixture.#clients.map((client) => client.end()));
      await fixture.simulator.close();
      await rm(dataDir, { recursive: true, force: true });
    });
    return fixture;
  }

  /** Starts a simulator with a client that is linked to the phone and open. */
  static async linked(
    context: TestContext,
    phone: string,
  ): Promise<{ fixture: Fixture; client: TestClient }> {
    const fixture = await Fixture.start(context);
    return { fixture, client: await fixture.link(phone) };
  }

  /** Stops the simulator and starts another one on the same port and data, once `meanwhile` is done. */
  async restart(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const { port } = this.simulator;
    await this.simulator.close();
    await meanwhile();
    this.simulator = await startSimulator({ dataDir: this.dataDir, ...this.#options, port });
    this.control = simulatorControl(this.simulator.url);
  }

  /** Stops the simulator, takes all sessions from its handsets, and starts it again. */
  forgetHandsetSessions(): Promise<void> {
    return this.restart(async () => {
      const path = join(this.dataDir, 'network.jsonl');
      const lines = (await readFile(path, 'utf8')).split('\n');
      await writeFile(path, lines.filter((line) => !/^\["handset-keys","\d+ session /.test(line)).join('\n'));
    });
  }

  /** A client that is linked to the phone and open. */
  async link(phone: string, config: Partial<UserFacingSocketConfig> = {}): Promise<TestClient> {
    const client = await linkedClient(this.simulator, (qr) => this.control.scan(qr, phone), config);
    return this.keep(client);
  }

  /** Ends the client with the test. */
  keep(client: TestClient): TestClient {
    this.#clients.push(client);
    return client;
  }
}
